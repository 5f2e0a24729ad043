import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile, unlink, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { createLog } from '../../kernel/log.ts';
import { openStore } from './open-store.ts';
import { startWriter } from './writer-port.ts';
import { describeStore } from '../../../test/store-suite.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });

describeStore({ name: 'on a writer thread', startWriter });

/** Writes with 20 callers and says each acknowledged event: `<task> <sequence> <seq> <text>`. */
const writerProgram = `
  const { openStore } = await import(${JSON.stringify(new URL('./open-store.ts', import.meta.url).href)});
  const { systemClock } = await import(${JSON.stringify(new URL('../../kernel/clock.ts', import.meta.url).href)});
  const { createLog } = await import(${JSON.stringify(new URL('../../kernel/log.ts', import.meta.url).href)});
  const { writeSync } = await import('node:fs');
  const log = createLog({ sink: { write() {}, close() {} }, clock: systemClock });
  const [file, round] = process.argv.slice(1);
  const store = await openStore({ file, clock: systemClock, log });
  const add = (tx, id) => tx.db.insertInto('task').values({ id, request_id: id, intent_hash: '', intent: '{}', state: 'queued', harness: 'command', backend: 'local', cancel_requested: 0, created_at: 1 }).execute();
  await Promise.all(Array.from({ length: 20 }, async (_, n) => {
    const task = 'tsk_' + round + '_' + n;
    await store.transaction((tx) => add(tx, task));
    for (let count = 1; ; count++) {
      const text = task + '/' + count + '/' + 'y'.repeat(count % 300);
      const events = [{ taskId: task, turn: null, body: { kind: 'notice', level: 'info', text } }];
      const [event] = count % 4 === 0 ? await store.transaction((tx) => tx.append(events)) : await store.append(events);
      writeSync(1, task + ' ' + event.sequence + ' ' + event.seq + ' ' + text + '\\n');
    }
  }));
`;

/** Runs the writer until it has acknowledged `events`, then kills it with no warning. Answers what it acknowledged. */
const writeAndKill = async ({ file, round, events }: { file: string; round: number; events: number }): Promise<string[][]> => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', writerProgram, file, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acknowledged: string[][] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(line.split(' '));
    if (acknowledged.length === events) child.kill('SIGKILL');
  }
  return acknowledged;
};

describe('a store whose process is killed', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-crash-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('has every acknowledged event, whole, with contiguous numbers, after kills at random moments', async () => {
    const file = join(directory, 'orrery.db');
    const acknowledged: string[][] = [];
    for (let round = 0; round < 4; round++)
      acknowledged.push(...(await writeAndKill({ file, round, events: 100 + Math.floor(Math.random() * 800) })));
    const store = await openStore({ file, clock: systemClock, log });
    const stored = new Map<number, { taskId: string | null; sequence: number | null; text: string }>();
    for (
      let after = 0, page = await store.events({ after, limit: 1_000 });
      page.length > 0;
      page = await store.events({ after, limit: 1_000 })
    ) {
      for (const { seq, taskId, sequence, body } of page)
        stored.set(seq, { taskId, sequence, text: 'text' in body ? body.text : '' });
      after = page.at(-1)!.seq;
    }
    await store.close();
    expect(acknowledged.length).toBeGreaterThanOrEqual(400);
    for (const [task, sequence, seq, text] of acknowledged)
      expect(stored.get(Number(seq))).toEqual({ taskId: task, sequence: Number(sequence), text });
    expect([...stored.keys()]).toEqual(Array.from({ length: stored.size }, (_, index) => index + 1));
    const next = new Map<string, number>();
    for (const { taskId, sequence } of stored.values()) {
      expect(sequence).toBe((next.get(taskId!) ?? 0) + 1);
      next.set(taskId!, sequence!);
    }
  }, 60_000);
});

const mayMount = process.getuid?.() === 0;

describe.skipIf(!mayMount)('a store on a small disk', () => {
  let directory = '';
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-full-'));
    await mkdir(join(directory, 'disk'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', join(directory, 'disk')]);
  });
  afterEach(async () => {
    execFileSync('umount', ['-l', join(directory, 'disk')]);
    await rm(directory, { recursive: true });
  });

  it('refuses with disk_full when the disk is full, loses nothing it acknowledged, and recovers', async () => {
    const disk = join(directory, 'disk');
    const store = await openStore({ file: join(disk, 'orrery.db'), clock: systemClock, log });
    await writeFile(join(disk, 'ballast'), Buffer.alloc(3 * 1024 * 1024));
    let acknowledged = 0;
    const refusal: unknown[] = [];
    while (refusal.length < 3) {
      try {
        const [event] = await store.append([
          { taskId: null, turn: null, body: { kind: 'notice', level: 'info', text: 'z'.repeat(40_000) } },
        ]);
        acknowledged = event!.seq;
      } catch (thrown) {
        refusal.push((thrown as { code: string }).code);
      }
    }
    expect(refusal).toEqual(['disk_full', 'disk_full', 'disk_full']);
    expect((await store.events({ after: 0, limit: 1_000 })).length).toBe(acknowledged);
    await unlink(join(disk, 'ballast'));
    expect(
      (await store.append([{ taskId: null, turn: null, body: { kind: 'notice', level: 'info', text: 'space' } }]))[0]?.seq,
    ).toBe(acknowledged + 1);
    await store.close();
    const again = await openStore({ file: join(disk, 'orrery.db'), clock: systemClock, log });
    expect(again.seq()).toBe(acknowledged + 1);
    await again.close();
  });
});
