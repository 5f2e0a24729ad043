// Glossary. A policy is a file of rules. A rule decides an action before it happens: it allows, denies, or has a person asked. Its
// origin is whose file it is: the operator's, or one of a project's base commit, which may only narrow. What is asked is an approval
// that an agent wants in a session.

import type { InteractionAsk, PolicyFileView, PolicyNote, PolicyRuleView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { parsePolicyFile, type RuleText } from '../config/policy-schema.ts';
import { widening } from '../config/widening.ts';
import { insideOf, mayHoldOrders, placeIn } from './checkout-paths.ts';
import { beginsWith } from './plain-words.ts';
import { hasUnseen, hasUnseenText } from './unseen.ts';

/** A rule, and where it stands. */
export type PolicyRule = RuleText & { readonly origin: PolicyFileView['origin']; readonly file: string };

/** A file as it was read. What can be used of one with a problem still denies and asks. */
export type PolicyFile = {
  readonly origin: PolicyFileView['origin'];
  readonly path: string;
  readonly rules: readonly PolicyRule[];
  readonly problem: OrreryError | null;
};

/** What an agent asks, and where. */
export type Asked = {
  readonly project: { readonly id: string; readonly name: string };
  readonly harness: string;
  /** The checkout as the agent sees it. */
  readonly workdir: string;
  readonly ask: Pick<InteractionAsk, 'kind' | 'tool' | 'command' | 'paths'>;
};

/** What wants words or a plan is a person's alone: no rule speaks of it. */
const DECIDABLE: ReadonlySet<InteractionAsk['kind']> = new Set(['command', 'edit', 'tool']);

/** Reads one file by the schema; what is wrong stands in it. An `allow` of a project is refused, the rest of its file holds. */
export const readPolicy = (file: Pick<PolicyFile, 'origin' | 'path'>, text: string): PolicyFile => {
  try {
    const rules = parsePolicyFile(text, file.path).map((rule): PolicyRule => ({ ...rule, origin: file.origin, file: file.path }));
    const wide = file.origin === 'project' ? rules.find(({ verdict }) => verdict === 'allow') : undefined;
    const kept = file.origin === 'project' ? rules.filter(({ verdict }) => verdict !== 'allow') : rules;
    return {
      ...file,
      rules: kept,
      problem: wide === undefined ? (twice(rules)?.problem ?? null) : tooWide(file.path, wide.name),
    };
  } catch (thrown) {
    if (!(thrown instanceof OrreryError)) throw thrown;
    return { ...file, rules: [], problem: thrown };
  }
};

const tooWide = (path: string, name: string): OrreryError =>
  widening(`rules.${name}`, `${path}: the rule "${name}" allows something.`, {
    rule: 'A file of a project only narrows: its rules deny or ask. What is allowed stands in files of the operator.',
    fix: 'orrery policy list',
  });

/** A name that stands twice would not tell which rule decided: the file of the second one, and what is wrong. */
export const twice = (
  rules: readonly Pick<PolicyRule, 'name' | 'file'>[],
): { readonly file: string; readonly problem: OrreryError } | null => {
  const seen = new Map<string, string>();
  for (const { name, file } of rules) {
    const other = seen.get(name);
    if (other !== undefined)
      return {
        file,
        problem: new OrreryError('config_invalid', `${file}: the rule "${name}" stands in ${other} already.`, {
          rule: 'What a rule decided is recorded by its name: each name stands once.',
          fix: 'Give one of them another name.',
        }),
      };
    seen.set(name, file);
  }
  return null;
};

/** Whether a rule means something; `maybe`: of a rule that narrows, what cannot be told from a command or a path. */
type Fit = 'yes' | 'no' | 'maybe';

const fits = (rule: PolicyRule, asked: Asked): Fit => {
  const { project, harness, kind, tool, command, paths } = rule.match;
  const { ask } = asked;
  if (!DECIDABLE.has(ask.kind)) return 'no';
  if (project !== undefined && project !== asked.project.id && project !== asked.project.name) return 'no';
  if (harness !== undefined && harness !== asked.harness) return 'no';
  if (kind !== undefined && kind !== ask.kind) return 'no';
  if (tool !== undefined && tool !== ask.tool) return 'no';
  if (rule.verdict === 'allow' && !isOwnWork(asked)) return 'no';
  if (command !== undefined) return ask.kind === 'command' ? commandFits(rule, command, ask.command ?? '') : 'no';
  if (paths !== undefined) return ask.kind === 'edit' ? pathsFit(rule, paths, asked) : 'no';
  return 'yes';
};

type Match = RuleText['match'];

/** Whatever it is that a rule names: none allows a file beside the checkout, or one that a program takes orders from. */
const isOwnWork = ({ ask, workdir }: Asked): boolean => {
  if (ask.paths.length === 0) return ask.kind !== 'edit';
  return ask.paths.every((path) => {
    const inside = insideOf(workdir, path);
    return inside !== null && !mayHoldOrders(inside) && !hasUnseen(inside);
  });
};

const commandFits = ({ verdict }: PolicyRule, { exact, words = [] }: NonNullable<Match['command']>, command: string): Fit => {
  const narrows = verdict !== 'allow';
  if (exact !== undefined) return exact === command ? 'yes' : narrows && hasUnseenText(command) ? 'maybe' : 'no';
  const begins = beginsWith(command, words, { anyShell: narrows });
  if (begins !== null) return begins ? 'yes' : 'no';
  return narrows ? 'maybe' : 'no';
};

/**
 * To allow, every file must be meant; to narrow, one is enough, or a folder that one is in. What cannot be placed in the checkout may
 * be in it all the same, by a link: that may be meant.
 */
const pathsFit = (
  { verdict }: PolicyRule,
  { exact = [], below = [] }: NonNullable<Match['paths']>,
  { ask, workdir }: Asked,
): Fit => {
  const places = ask.paths.map((path) => placeIn(workdir, path));
  const isMeant = (place: string): boolean => exact.includes(place) || below.some((folder) => place.startsWith(`${folder}/`));
  if (verdict === 'allow') return places.length > 0 && places.every((place) => place !== null && isMeant(place)) ? 'yes' : 'no';
  const holds = (place: string): boolean =>
    place === '' || [...exact, ...below].some((one) => one === place || one.startsWith(`${place}/`));
  if (places.some((place) => place !== null && (isMeant(place) || holds(place)))) return 'yes';
  return places.length === 0 || places.some((place) => place === null || hasUnseen(place)) ? 'maybe' : 'no';
};

const note = ({ verdict, name, file }: PolicyRule, text: string): PolicyNote => ({ verdict, rule: name, file, text });

const isExact = ({ match: { command, paths } }: PolicyRule): boolean =>
  command?.exact !== undefined || (paths !== undefined && paths.below === undefined);

/** The rules that mean something, in their order. */
export const fitting = (files: readonly PolicyFile[], asked: Asked): { readonly rule: PolicyRule; readonly sure: boolean }[] =>
  files.flatMap(({ rules }) =>
    rules.flatMap((rule) => {
      const fit = fits(rule, asked);
      return fit === 'no' ? [] : [{ rule, sure: fit === 'yes' }];
    }),
  );

/**
 * What the rules say, or null: none speaks of it. Deny wins over ask, ask over allow. While a file is broken nothing is allowed. A
 * command that may hold what is denied or asked is asked, unless it is allowed to the letter.
 */
export const decide = (files: readonly PolicyFile[], asked: Asked): PolicyNote | null => {
  if (!DECIDABLE.has(asked.ask.kind)) return null;
  const found = fitting(files, asked);
  const sure = found.filter((one) => one.sure).map(({ rule }) => rule);
  const denied = sure.find(({ verdict }) => verdict === 'deny');
  if (denied !== undefined) return note(denied, denied.reason ?? 'A rule denies it.');
  const broken = files.find(({ problem }) => problem !== null);
  if (broken?.problem != null) return brokenNote(broken.path, broken.problem);
  const asking = sure.find(({ verdict }) => verdict === 'ask');
  if (asking !== undefined) return note(asking, asking.question ?? asking.reason ?? 'A rule has it asked.');
  const allowing = sure.filter(({ verdict }) => verdict === 'allow');
  const exact = allowing.find(isExact);
  if (exact !== undefined) return note(exact, exact.reason ?? 'A rule allows it.');
  const unsure = found.find((one) => !one.sure);
  if (unsure !== undefined) return { ...note(unsure.rule, unsureText(unsure.rule)), verdict: 'ask' };
  const [allowed] = allowing;
  return allowed === undefined ? null : note(allowed, allowed.reason ?? 'A rule allows it.');
};

const unsureText = ({ name, verdict }: PolicyRule): string =>
  `It cannot be told for sure what it is about, and the rule "${name}" (${verdict}) may be about it.`;

const brokenNote = (path: string, problem: OrreryError): PolicyNote => ({
  verdict: 'ask',
  rule: null,
  file: path,
  text: `A policy file cannot be used, so everything is asked: ${problem.message}`,
});

/** A rule as clients see it. */
export const toRule = ({ name, origin, file, action, match, verdict, reason, question }: PolicyRule): PolicyRuleView => ({
  ...{ name, origin, file, action, verdict },
  match: match as PolicyRuleView['match'],
  text: question ?? reason ?? null,
});

/** A file as clients see it. */
export const toFile = ({ origin, path, rules, problem }: PolicyFile): PolicyFileView => ({
  ...{ origin, path, rules: rules.length },
  problem: problem?.toLines() ?? null,
});
