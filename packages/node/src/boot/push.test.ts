import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InteractionAsk } from '@orrery/protocol';
import { expect, it } from 'vitest';
import { addSession, said } from '../../test/transcript-suite.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import type { Push } from '../push/index.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { watchPush } from './push.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
const id = 'ses_01arz3ndektsv4rrffq69g5fav';

const ask = {
  kind: 'command',
  tool: 'Bash',
  title: 'Run',
  command: 'ls',
  detail: '',
  paths: [],
  questions: [],
  outcomes: [],
} satisfies InteractionAsk;
const opened = { kind: 'interaction.opened', interactionId: 'int_1', revision: 1, ask, deadlineAt: null } as const;
const waiting = said(id, { ...opened, interactionId: 'int_2' });
/** What a rule settled as it was asked waits for nobody. */
const decidedAtOnce = [
  said(id, opened),
  said(id, {
    kind: 'interaction.settled',
    interactionId: 'int_1',
    asked: 'command',
    outcome: 'approved',
    answers: null,
    by: 'rule:r',
  }),
];

it('browsers are told of what needs a person as it comes, of nothing else, and a failure ends nothing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-push-'));
  const store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
  const told: string[] = [];
  const push: Pick<Push, 'tell'> = {
    tell: async (name) => {
      told.push(name);
      if (told.length === 1) throw new Error('the first fails');
    },
  };
  try {
    await store.transaction((tx) => addSession(tx, { id }));
    const stop = watchPush(push, { store, log });
    const parked = said(id, { kind: 'turn.parked', turnId: 'trn_1', reason: 'nobody knows' });
    await store.append([said(id, { kind: 'text', row: 'm1', text: 'nothing to see' }), parked]);
    await store.append([parked]);
    await expect.poll(() => told.length).toBe(2);
    await store.append(decidedAtOnce);
    await store.append([waiting]);
    await expect.poll(() => told.length).toBe(3);
    await stop();
    await store.append([parked]);
    expect(told).toEqual([`name of ${id}`, `name of ${id}`, `name of ${id}`]);
  } finally {
    await store.close();
    await rm(directory, { recursive: true });
  }
});
