// A session that another one parts from, and what both know and have then.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { SessionView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { expect } from 'vitest';
import { lastCallOf } from './agents.ts';
import { sessionIn, turnOver } from './sessions.ts';

/** What two turns and one in each of both sessions come to. */
export const partingSteps = [
  { shell: 'echo one > first.txt' },
  { text: 'The first is there.' },
  { shell: 'echo two > second.txt' },
  { text: 'The second is there.' },
  { text: 'Another way.' },
  { text: 'On as before.' },
];

/** Where a session's files are. */
export type Files = {
  list(one: SessionView): Promise<readonly string[]>;
  write(one: SessionView, file: string): Promise<void>;
};

type Around = { readonly client: Client; readonly model: ScriptedModel; readonly files?: Files };

const say = async (client: Client, to: string, text: string): Promise<number> => {
  const { id: turn } = await client.call('turnAdd', { params: { id: to }, body: { text } });
  const over = await turnOver(client, to, turn);
  expect(over.outcome).toBe('success');
  return over.turn ?? 0;
};

const treeOf = async (client: Client, { environment }: SessionView): Promise<string> =>
  (await client.call('environmentShow', { params: { id: environment.id } })).workdir ?? '/nowhere';

/** Those of this machine. */
const filesHere = (client: Client): Files => ({
  list: async (one) => readdirSync(await treeOf(client, one)),
  write: async (one, file) => writeFileSync(join(await treeOf(client, one), file), 'by the fork\n'),
});

const there = async ({ list }: Files, one: SessionView): Promise<boolean[]> => {
  const names = await list(one);
  return ['first.txt', 'second.txt', 'mine.txt'].map((file) => names.includes(file));
};

/** A session parts before its second turn of two; answers the fork once both have gone on by themselves. */
export const partsAndGoesOn = async (
  { client, model, files = filesHere(client) }: Around,
  session: SessionView,
  forks: SessionView['forks'],
): Promise<SessionView> => {
  const marker = `MARKER-parting-${session.harness}`;
  const { id } = session;
  await say(client, id, `Make the first. ${marker}-one`);
  const second = await say(client, id, `Make the second. ${marker}-two`);
  const before = await client.call('sessionShow', { params: { id } });
  expect(before.forks).toBe(forks);
  const body = { at: String(second), requestId: `parting-${session.harness}` };
  const fork = await client.call('sessionFork', { params: { id }, body });
  expect(fork.forkedFrom).toEqual({ session: id, turn: second, replaced: forks === 'record' });
  expect(await client.call('sessionFork', { params: { id }, body })).toMatchObject({ id: fork.id, replayed: true });
  await sessionIn(client, fork.id, ['idle']);
  expect(await there(files, session)).toEqual([true, true, false]);
  expect(await there(files, fork)).toEqual([true, false, false]);
  await files.write(fork, 'mine.txt');
  await say(client, fork.id, `Another way. ${marker}-fork`);
  const known = (): boolean[] => ['one', 'two', 'fork', 'more'].map((name) => lastCallOf(model).includes(`${marker}-${name}`));
  expect([known(), lastCallOf(model).includes('The first is there.')]).toEqual([[true, false, true, false], true]);

  // The one it parted from is as it was, and goes on.
  const { conversation, generation, state } = await client.call('sessionShow', { params: { id } });
  expect([conversation, generation, state]).toEqual([before.conversation, before.generation, 'idle']);
  await say(client, id, `On as before. ${marker}-more`);
  expect(known()).toEqual([true, true, false, true]);
  expect(await there(files, session)).toEqual([true, true, false]);
  // In a record, words that were said before are told once more; nothing else is said twice.
  const first = forks === 'record' ? 2 : 1;
  const said = { [`${marker}-one`]: first, [`${marker}-two`]: 1, [`${marker}-fork`]: 1, [`${marker}-more`]: 1 };
  expect(model.promptCounts()).toMatchObject(said);
  return fork;
};
