import { join } from 'node:path';
import {
  OrreryError,
  type InteractionView,
  type PolicyListed,
  type PolicyNote,
  type PolicyProposal,
  type PolicyQuestion,
  type PolicyTested,
} from '@orrery/protocol';
import type { RuleText } from '../config/policy-schema.ts';
import { createMutex } from '../kernel/mutex.ts';
import { SOME_CHECKOUT } from './checkout-paths.ts';
import { createPolicyFiles, type FolderParts, type PolicyAt, type PolicyFiles, type TreeEntry } from './files.ts';
import { decide, fitting, toFile, toRule, type Asked, type PolicyFile } from './model.ts';
import { addRule } from './rule-file.ts';
import { matchOf, ruleFor, yamlOf } from './rule-text.ts';

/** What was asked by an agent, with all that a rule may look at. */
export type Subject = { readonly interaction: InteractionView; readonly asked: Asked; readonly at: PolicyAt | null };

export type PolicyParts<Entry extends TreeEntry = TreeEntry> = FolderParts<Entry> & {
  /** Keeps who added which rule, in the audit. */
  readonly record: (added: { readonly by: string; readonly rule: string; readonly interaction: string }) => Promise<void>;
  /** Rejects with `not_found`. */
  readonly subject: (interactionId: string) => Promise<Subject>;
  /** Names that rules may mean: projects by id and name, agent programs. */
  readonly known: () => Promise<{ readonly projects: ReadonlySet<string>; readonly harnesses: ReadonlySet<string> }>;
  /** A project by what a person typed, at its newest commit. */
  readonly newest: (project: string) => Promise<PolicyAt & { readonly name: string }>;
  readonly answer: (
    id: string,
    answer: { readonly revision: number; readonly outcome: 'approved'; readonly by: string },
  ) => Promise<InteractionView>;
};

/** The rules at one moment. */
export type Decide = (asked: Asked) => PolicyNote | null;

/** Use cases of policies. Files are read when they are needed: a change holds for what is asked after it. */
export type Policies = {
  /** What decides in a project; it never rejects, for what cannot be read has everything asked. */
  inForce(at: PolicyAt | null): Promise<Decide>;
  /** Another text whenever what counts of the operator's files is something else. */
  stamp(): Promise<string>;
  /** The operator's files. */
  files(): Promise<readonly PolicyFile[]>;
  list(project: string | null): Promise<PolicyListed>;
  test(question: PolicyQuestion): Promise<PolicyTested>;
  propose(interactionId: string): Promise<PolicyProposal>;
  /** Adds the proposed rule as the person saw it, then allows once what is asked. @throws OrreryError conflict, config_invalid */
  add(
    interactionId: string,
    given: { readonly revision: number; readonly yaml: string; readonly by: string },
  ): Promise<{ readonly interaction: InteractionView; readonly rule: { readonly name: string; readonly file: string } }>;
};

/** Where rules go that people add to what is asked. */
const OWN_FILE = 'approvals.yaml';

export const createPolicies = <Entry extends TreeEntry>(parts: PolicyParts<Entry>): Policies => {
  const files = createPolicyFiles(parts);
  const mutex = createMutex();
  const file = join(parts.folder, OWN_FILE);
  const propose = async (id: string): Promise<Proposed> => proposed(files, { subject: await parts.subject(id), file });
  return {
    inForce: async (at) => {
      const all = await files.all(at);
      return (asked) => decide(all, asked);
    },
    files: files.operator,
    stamp: files.stamp,
    list: async (project) => {
      const all = await files.all(project === null ? null : await parts.newest(project));
      return {
        items: all.flatMap(({ rules }) => rules.map(toRule)),
        files: all.map(toFile),
        folder: parts.folder,
        broken: all.some(({ problem }) => problem !== null),
        idle: idleRules(all, await parts.known()),
      };
    },
    test: async (question) => tested(files, await questioned(parts, question)),
    propose: async (id) => {
      const found = await propose(id);
      return 'why' in found
        ? { rule: null, why: found.why }
        : { rule: { name: found.rule.name, yaml: found.yaml, file }, why: null };
    },
    add: (id, given) =>
      mutex.run(file, async () => {
        const found = await propose(id);
        const { rule, projectName } = checked(found, { ...given, id });
        await addRule(file, { rule, projectName });
        await parts.record({ by: given.by, rule: rule.name, interaction: id });
        const interaction = await answered(parts, id, given);
        return { interaction, rule: { name: rule.name, file } };
      }),
  };
};

/** Allows once what was asked; the new rule may have done so by itself already. */
const answered = async (
  { answer, subject }: Pick<PolicyParts, 'answer' | 'subject'>,
  id: string,
  { revision, by }: { readonly revision: number; readonly by: string },
): Promise<InteractionView> => {
  try {
    return await answer(id, { revision, outcome: 'approved', by });
  } catch (thrown) {
    const { interaction } = await subject(id);
    if (interaction.outcome === 'approved' && interaction.revision === revision) return interaction;
    throw thrown;
  }
};

/** A name that is not known is mostly a slip: such a rule denies nothing. */
const idleRules = (all: readonly PolicyFile[], known: Awaited<ReturnType<PolicyParts['known']>>): string[] =>
  all.flatMap(({ rules }) =>
    rules.flatMap(({ name, file, match: { project, harness } }) => [
      ...(project === undefined || known.projects.has(project)
        ? []
        : [`${file}: the rule "${name}" is for the project "${project}", and there is none.`]),
      ...(harness === undefined || known.harnesses.has(harness)
        ? []
        : [`${file}: the rule "${name}" is for the program "${harness}", and there is none.`]),
    ]),
  );

type Proposed =
  | { readonly why: string }
  | { readonly rule: RuleText; readonly yaml: string; readonly projectName: string; readonly revision: number };

/** The rule for what is asked, unless it would not be followed. */
const proposed = async (
  files: PolicyFiles,
  { subject, file }: { readonly subject: Subject; readonly file: string },
): Promise<Proposed> => {
  const { interaction, asked, at } = subject;
  if (interaction.state !== 'open') return { why: 'It is settled; a rule is proposed for what waits.' };
  if (!interaction.ask.outcomes.includes('approved')) return { why: 'It cannot be allowed.' };
  const match = matchOf(asked);
  if (typeof match === 'string') return { why: match };
  const reason = `Asked in the session ${interaction.sessionName} on ${interaction.createdAt.slice(0, 10)}`;
  const rule = ruleFor(asked, { match, reason });
  const all = await files.all(at);
  const after = decide(
    [...all, { origin: 'operator', path: file, rules: [{ ...rule, origin: 'operator', file }], problem: null }],
    asked,
  );
  if (after?.verdict !== 'allow') return { why: `A rule would change nothing. ${after?.text ?? ''}`.trim() };
  return { rule, yaml: yamlOf(rule, asked.project.name), projectName: asked.project.name, revision: interaction.revision };
};

/** What may be added: the very rule that was seen, for what still waits. */
const checked = (
  found: Proposed,
  { id, revision, yaml }: { readonly id: string; readonly revision: number; readonly yaml: string },
): Exclude<Proposed, { readonly why: string }> => {
  if ('why' in found)
    throw new OrreryError('conflict', `No rule is added: ${found.why}`, {
      rule: 'A rule is added for what waits, and only where it would be followed.',
      fix: `orrery policy test --interaction ${id}`,
    });
  if (found.yaml === yaml && found.revision === revision) return found;
  throw new OrreryError('conflict', 'The rule is another one by now.', {
    rule: 'What goes to the policy file is what a person has seen.',
    fix: `orrery policy propose ${id}`,
  });
};

type Questioned = { readonly asked: Asked; readonly at: PolicyAt | null };

/** What is tried, as an agent would ask it. @throws OrreryError invalid_input */
const questioned = async (parts: Pick<PolicyParts, 'subject' | 'newest'>, question: PolicyQuestion): Promise<Questioned> => {
  const { interaction, project, harness, command, paths, tool } = question;
  const given = [command, paths, interaction].filter((part) => part !== undefined).length;
  if (given > 1 || (given === 0 && tool === undefined))
    throw new OrreryError('invalid_input', 'It is not said what would be asked.', {
      rule: 'It is a command, or paths, or a tool, or the id of what an agent asked.',
      fix: 'orrery policy test make --project shop --harness claude',
    });
  if (interaction !== undefined) return parts.subject(interaction);
  const at = project === undefined ? null : await parts.newest(project);
  return {
    at,
    asked: {
      project: at === null ? { id: '', name: '' } : { id: at.project, name: at.name },
      harness: harness ?? '',
      workdir: SOME_CHECKOUT,
      ask: {
        kind: command !== undefined ? 'command' : paths !== undefined ? 'edit' : 'tool',
        ...{ tool: tool ?? null, command: command ?? null, paths: paths ?? [] },
      },
    },
  };
};

const tested = async (files: PolicyFiles, { asked, at }: Questioned): Promise<PolicyTested> => {
  const all = await files.all(at);
  const said = decide(all, asked);
  return {
    verdict: said?.verdict ?? null,
    rule: said?.rule == null ? null : { name: said.rule, file: said.file ?? '' },
    text: said?.text ?? 'No rule speaks of it: the mode of its session decides, and what its program was allowed before.',
    fits: fitting(all, asked).map(({ rule }) => toRule(rule)),
    files: all.map(toFile),
  };
};
