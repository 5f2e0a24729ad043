// What a pull request says when nobody says it. Words of agents and prompts go to a page that many read: they are shown as they
// are, and make nothing happen there (no link, no mention, no image, no issue closed).

import type { TaskResult } from '@orrery/protocol';

/** Characters of a title: what lists of code hosts show. */
const TITLE_CHARS = 72;
/** Characters of an agent's last words that are taken. */
const SUMMARY_CHARS = 4_000;

/** Bidirectional marks and what is not seen would make a reader read something else. */
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The first words of a text as a title. */
export const titleOf = (text: string, otherwise: string): string => {
  const line = text
    .split('\n')
    .map((one) => one.replace(unseen, '').replaceAll('\t', ' ').trim())
    .find((one) => one !== '');
  if (line === undefined) return otherwise;
  const characters = [...line];
  return characters.length <= TITLE_CHARS
    ? line
    : `${characters
        .slice(0, TITLE_CHARS - 1)
        .join('')
        .trimEnd()}…`;
};

/** A text as it is, in a block that nothing in it ends. */
export const asBlock = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
};

const validationText = ({ validation }: TaskResult): string => {
  if (validation === null) return 'The project has no validation script.';
  if (validation.passed) return 'Validation by the project’s own script: passed.';
  return `Validation by the project’s own script: **not passed** (${validation.timedOut ? 'it took too long' : `exit ${validation.exitCode ?? 'unknown'}`}).`;
};

/** The text for the result of a task. */
export const bodyOfTask = ({
  id,
  verdict,
  result,
}: {
  id: string;
  verdict: string | null;
  result: TaskResult | null;
}): string => {
  const summary = (result?.summary ?? '').replace(unseen, '').trim();
  const cut = summary.length > SUMMARY_CHARS ? `${summary.slice(0, SUMMARY_CHARS)}…` : summary;
  const goal = result?.goal ?? null;
  return [
    ...(cut === '' ? [] : [asBlock(cut)]),
    ...(result === null ? [] : [validationText(result)]),
    ...(goal === null ? [] : [`Its goal was ${goal.met ? 'met' : '**not met**'}.`]),
    `Made by an agent: task \`${id}\`, ${verdict ?? 'not ended'}.`,
  ].join('\n\n');
};

/** The text for what an environment holds. */
export const bodyOfEnvironment = (name: string): string => `Made with an agent in the environment \`${name}\`.`;
