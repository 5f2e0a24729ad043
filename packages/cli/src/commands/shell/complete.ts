import { inertLine } from '../../inert.ts';
import { optionsOf } from '../../command-line.ts';
import { fit } from '../../screen.ts';
import type { Connection } from '../../connect.ts';
import type { Command, CommandContext, CommandSpec, Completes } from '../command.ts';

/** How long a running node may take to name things; then there are none. */
const PATIENCE_MS = 300;

/** A word that may come next, and what it is. */
export type Answer = readonly [word: string, about: string];

/** `orrery __complete -- words…`: the last word is the one being typed. Silent on every failure, always 0. */
export const complete: Command = async (context) => {
  const words = context.input.tail;
  const typed = words.at(-1) ?? '';
  const answers = await answersFor(context, words.slice(0, -1), typed).catch(() => []);
  const fitting = answers.filter(([word]) => word.startsWith(typed));
  return {
    result: { items: fitting.map(([word, about]) => ({ word, about })) },
    text: fitting.map(([word, about]) => `${word}\t${about}`).join('\n'),
  };
};

const answersFor = async (context: CommandContext, before: readonly string[], typed: string): Promise<readonly Answer[]> => {
  const shown = context.table.filter(({ hidden }) => hidden !== true);
  const first = before[0];
  if (first === undefined) return firstWords(shown);
  const direct = shown.find(({ noun, verb }) => noun === null && verb === first);
  if (direct === undefined && before.length === 1)
    return shown.filter(({ noun }) => noun === first).map(({ verb, summary }) => [verb, summary] as const);
  const spec = direct ?? shown.find(({ noun, verb }) => noun === first && verb === before[1]);
  return spec === undefined ? [] : wordsOf(context, spec, { rest: before.slice(direct === undefined ? 2 : 1), typed });
};

const firstWords = (table: readonly CommandSpec[]): Answer[] => {
  const nouns = [...new Set(table.map(({ noun }) => noun).filter((noun) => noun !== null))];
  return [
    ...table.filter(({ noun }) => noun === null).map(({ verb, summary }) => [verb, summary] as const),
    ...nouns.map(
      (noun) =>
        [
          noun,
          `${table
            .filter((row) => row.noun === noun)
            .map(({ verb }) => verb)
            .join(', ')}`,
        ] as const,
    ),
  ];
};

const wordsOf = async (
  context: CommandContext,
  spec: CommandSpec,
  { rest, typed }: { rest: readonly string[]; typed: string },
): Promise<readonly Answer[]> => {
  const options = optionsOf(spec);
  const open = options.find(({ name, kind }) => kind !== 'flag' && rest.at(-1) === `--${name}`);
  if (open !== undefined)
    return (
      open.choices?.map((choice) => [choice, ''] as const) ?? (open.completes === undefined ? [] : named(context, open.completes))
    );
  if (typed.startsWith('-')) return options.map(({ name, summary }) => [`--${name}`, summary] as const);
  const valued = new Set(options.filter(({ kind }) => kind !== 'flag').map(({ name }) => `--${name}`));
  const place = rest.filter((word, index) => !word.startsWith('-') && !valued.has(rest[index - 1] ?? '')).length;
  const argument = spec.arguments?.[place];
  if (argument?.choices !== undefined) return argument.choices.map((choice) => [choice, ''] as const);
  return argument?.completes === undefined ? [] : named(context, argument.completes);
};

/** Names from the running node, within the patience. */
const named = async (context: CommandContext, what: Completes): Promise<readonly Answer[]> => {
  if (what === 'file' || what === 'folder') return [];
  if (what === 'command') return firstWords(context.table.filter(({ hidden }) => hidden !== true));
  return namesFrom(await context.connect(AbortSignal.timeout(PATIENCE_MS)), what);
};

const namesFrom = async ({ client }: Connection, what: Completes): Promise<Answer[]> => {
  switch (what) {
    case 'task': {
      const { items } = await client.call('taskList', { query: { limit: 50 } });
      return [
        ['last', 'the newest task'],
        ...items.map(({ id, state, prompt }) => [id, fit(`${state}: ${inertLine(prompt)}`, 60)] as const),
      ];
    }
    case 'project':
      return (await client.call('projectList', { query: { limit: 200 } })).items.map(
        ({ name, source }) => [inertLine(name), inertLine(source)] as const,
      );
    case 'environment':
      return (await client.call('environmentList', { query: { limit: 200 } })).items.map(
        ({ name, state }) => [inertLine(name), state] as const,
      );
    case 'session':
      return (await client.call('sessionList', { query: { limit: 200 } })).items.map(
        ({ name, state }) => [inertLine(name), state] as const,
      );
    case 'salvage':
      return (await client.call('salvageList', { query: { limit: 200 } })).items.map(
        ({ id, reason }) => [id, inertLine(reason)] as const,
      );
    case 'token':
      return (await client.call('tokenList')).items.map(({ name, scope }) => [name, scope] as const);
    case 'harness':
      return (await client.call('harnessList')).items.map(({ id, summary }) => [id, inertLine(summary)] as const);
    case 'backend':
      return (await client.call('backendList')).items.map(({ name, summary }) => [name, inertLine(summary)] as const);
    default:
      return [];
  }
};
