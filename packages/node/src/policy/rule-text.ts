// A rule as text: the one that would allow just what is asked, and a file with one more rule in it. Pure.

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { InteractionAsk } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { Document, isSeq, parseDocument, type Node } from 'yaml';
import { parsePolicyFile, type RuleText } from '../config/policy-schema.ts';
import { insideOf, mayHoldOrders } from './checkout-paths.ts';
import type { Asked } from './model.ts';
import { hasUnseen, hasUnseenText } from './unseen.ts';

/** No line is broken: what was said stands as it was said. */
const FORM = { lineWidth: 0 } as const;

/** What is asked, as what a rule is for; a text says why there is no rule for it. */
export const matchOf = ({ ask, workdir, project, harness }: Asked): RuleText['match'] | string => {
  const place = { project: project.id, harness };
  if (ask.kind === 'command') {
    if (ask.command === null || ask.command === '') return 'It does not say which command it is.';
    if (hasUnseenText(ask.command)) return 'The command has characters that nobody sees: only a person allows it, each time.';
    return { ...place, command: { exact: ask.command } };
  }
  if (ask.kind !== 'edit')
    return 'A rule is for one command or for files of the checkout; one for a tool with all that it may be given, you write yourself.';
  const inside = ask.paths.map((path) => insideOf(workdir, path));
  const files = inside.filter((path) => path !== null);
  if (files.length === 0 || files.length < inside.length) return 'It is not about files of the checkout alone.';
  if (files.some(mayHoldOrders)) return 'Agent programs take orders from such a file: only a person allows it, each time.';
  if (files.some(hasUnseen)) return 'A path has characters that nobody sees.';
  return { ...place, paths: { exact: [...new Set(files)] } };
};

/** A name that says what it is for, and that no rule for anything else has. */
const nameOf = (ask: Pick<InteractionAsk, 'command' | 'paths'>, match: RuleText['match']): string => {
  const words = (ask.command ?? ask.paths.map((path) => path.split('/').at(-1) ?? '').join('-'))
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  const hash = createHash('sha256').update(JSON.stringify(match)).digest('hex').slice(0, 8);
  return words === '' ? `rule-${hash}` : `${words}-${hash}`;
};

/** The rule that allows what is meant and nothing else. */
export const ruleFor = (
  { ask }: Pick<Asked, 'ask'>,
  { match, reason }: { readonly match: RuleText['match']; readonly reason: string },
): RuleText => ({ name: nameOf(ask, match), action: 'approval', match, verdict: 'allow', reason });

/** The rule as it is written, with the name of its project beside its id. */
const nodeOf = (document: Document, rule: RuleText, projectName: string): Node => {
  const node = document.createNode(rule);
  const project = document.createNode(rule.match.project ?? '');
  project.comment = ` ${projectName}`;
  node.setIn(['match', 'project'], project);
  return node;
};

/** The text of one rule, for a person. */
export const yamlOf = (rule: RuleText, projectName: string): string => {
  const document = new Document([]);
  document.add(nodeOf(document, rule, projectName));
  return document.toString(FORM);
};

/**
 * The text of a file (empty: a new one) with a rule behind the others. What people wrote stays, with its comments; that every rule
 * reads as before is checked. @throws OrreryError config_invalid for a file that is no policy, conflict when it cannot be kept
 */
export const withRule = (
  text: string,
  { rule, projectName, path }: { readonly rule: RuleText; readonly projectName: string; readonly path: string },
): string => {
  const wanted = [...parsePolicyFile(text, path), ...parsePolicyFile(new Document({ rules: [rule] }).toString(FORM), path)];
  for (const after of [inserted(text, yamlOf(rule, projectName)), rewritten(text, { rule, projectName })])
    if (after !== null && isDeepStrictEqual(rulesOf(after, path), wanted)) return after;
  throw new OrreryError('conflict', `${path} cannot take one more rule without changing others.`, {
    rule: 'What people wrote into a policy file stays as it is.',
    fix: 'Add the rule with an editor.',
  });
};

const rulesOf = (text: string, path: string): readonly RuleText[] | null => {
  try {
    return parsePolicyFile(text, path);
  } catch {
    return null;
  }
};

/** The item put behind the last one, at its column: every other byte stays. Null: the rules are no list of lines. */
const inserted = (text: string, item: string): string | null => {
  const rules = parseDocument(text).get('rules', true);
  const last = isSeq(rules) && rules.flow !== true ? (rules.items.at(-1) as Node | undefined) : undefined;
  if (!isSeq(rules) || rules.range == null || last?.range == null) return null;
  const column = rules.range[0] - (text.lastIndexOf('\n', rules.range[0] - 1) + 1);
  const [, end] = last.range;
  const lineEnd = text[end - 1] === '\n' ? end : text.indexOf('\n', end) + 1;
  const [before, behind] = lineEnd === 0 ? [`${text}\n`, ''] : [text.slice(0, lineEnd), text.slice(lineEnd)];
  return before + item.replaceAll(/^(?=.)/gm, ' '.repeat(column)) + behind;
};

/** The same for any other form of it. */
const rewritten = (text: string, { rule, projectName }: { readonly rule: RuleText; readonly projectName: string }): string => {
  const document: Document = parseDocument(text);
  const node = nodeOf(document, rule, projectName);
  const rules = document.contents === null ? null : document.get('rules', true);
  if (isSeq(rules)) {
    // One that was written empty stands in one line.
    if (rules.items.length === 0) rules.flow = false;
    rules.add(node);
  } else if (document.contents === null) document.contents = document.createNode({ rules: [node] });
  else document.set('rules', document.createNode([node]));
  return document.toString(FORM);
};
