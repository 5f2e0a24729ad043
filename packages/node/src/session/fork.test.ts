import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { describe, expect, it } from 'vitest';
import { keepDetail } from './details.ts';
import { FORK_EVENTS } from './limits.ts';
import { codeOf, createScene, echo, init, result, until, wordsOf } from '../../test/talking-scene.ts';

const { scene, begin, given, stateIs, turnIs, turnsOf, startAgain } = createScene();

const folder = '.claude/projects/-place';

/** The program's own file of a conversation, with a line that is being written. */
const programWrote = async (lines: string, conversation = 'c1'): Promise<void> => {
  const path = join(scene.place.home, folder);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, `${conversation}.jsonl`), lines);
};

const answer = (id: string, text: string, uuid: string) => ({
  ...{ type: 'assistant', uuid, session_id: 'c1' },
  message: { id, role: 'assistant', content: [{ type: 'text', text }] },
});

/** One turn of a session, from the words to their end. */
const turn = async (id: string, words: string, number: number): Promise<void> => {
  const talker = await given(words);
  talker.say(init, echo(words), answer(`m${number}`, `answer ${number}`, `u${number}`), result);
  await turnIs(id, words, 'ended');
};

/** A session with two turns behind it. */
const talked = async (): Promise<string> => {
  const { id } = await begin({ requestId: 'first', name: 'talk', prompt: 'one', maxTurns: 5 });
  await turn(id, 'one', 1);
  await scene.node.sessions.addTurn(id, { text: 'two', kind: 'prompt', requestId: 'second' });
  await turn(id, 'two', 2);
  await programWrote('{"uuid":"u1"}\n{"uuid":"u2"}\n{"uuid":"u3"');
  return id;
};

const logOf = (id: string) => scene.place.store.ownEvents({ owner: id, after: 0, limit: 500 });
const said = async (id: string): Promise<string[]> =>
  (await logOf(id)).flatMap(({ body }) => (body.kind === 'user' || body.kind === 'text' ? [body.text] : []));

describe('a session that parts from another one', () => {
  it('has the log, the turns and the conversation up to there, and the other one stays as it is', async () => {
    const id = await talked();
    const { sessions } = scene.node;
    const before = [await logOf(id), await sessions.show(id)];
    const fork = await sessions.fork(id, { requestId: 'part', title: 'another way' });
    expect(fork).toMatchObject({
      name: 'talk-2',
      title: 'another way',
      forks: 'native',
      forkedFrom: { session: id, turn: null, replaced: false },
      budget: { turns: 5 },
      replayed: false,
    });
    expect(await logOf(id)).toEqual(before[0]);
    expect(await sessions.show(id)).toMatchObject({ conversation: 'c1', generation: 1, state: 'idle' });
    expect(await said(fork.id)).toEqual(['one', 'answer 1', 'two', 'answer 2']);
    const [theirs, mine] = [await logOf(id), await logOf(fork.id)];
    expect(mine.map(({ sequence }) => sequence)).toEqual(mine.map((_, index) => index + 1));
    // What was said bears the time at which it was said.
    const first = (log: typeof mine) => log.find(({ body }) => body.kind === 'user')?.at;
    expect(first(mine)).toBe(first(theirs));
    expect((await turnsOf(fork.id)).map(({ turn: number, text }) => [number, text])).toEqual([
      [2, 'two'],
      [1, 'one'],
    ]);
    await until('the conversation to be there', () => scene.place.homeFiles.has(`${folder}/c1.jsonl`));
    expect(scene.place.homeFiles.get(`${folder}/c1.jsonl`)).toBe('{"uuid":"u1"}\n{"uuid":"u2"}\n');
    await sessions.addTurn(fork.id, { text: 'three', kind: 'prompt', requestId: 'third' });
    await given('three');
    expect((await turnsOf(fork.id)).find(({ text }) => text === 'three')?.turn).toBe(3);
    expect(await said(id)).not.toContain('three');
  });

  it('parts before a turn: what came then is not in it', async () => {
    const id = await talked();
    const fork = await scene.node.sessions.fork(id, { at: '2' });
    expect(fork).toMatchObject({ forkedFrom: { session: id, turn: 2, replaced: false } });
    expect(await said(fork.id)).toEqual(['one', 'answer 1']);
    const row = await scene.place.store.read
      .selectFrom('session')
      .select('branch')
      .where('id', '=', fork.id)
      .executeTakeFirstOrThrow();
    expect(row.branch === null ? null : JSON.parse(row.branch)).toEqual({ conversation: 'c1', position: 'u1' });
    expect(await codeOf(scene.node.sessions.fork(id, { at: '77' }))).toBe('not_found');
  });

  it('parts behind the last turn that is over while one runs, and from one that sleeps or has ended', async () => {
    const id = await talked();
    const { sessions } = scene.node;
    await sessions.addTurn(id, { text: 'three', kind: 'prompt', requestId: 'third' });
    const talker = await given('three');
    talker.say(echo('three'));
    await turnIs(id, 'three', 'accepted');
    const running = await sessions.fork(id, {});
    expect(running.forkedFrom).toEqual({ session: id, turn: 3, replaced: false });
    expect(await said(running.id)).toEqual(['one', 'answer 1', 'two', 'answer 2']);
    expect((await sessions.show(id)).turn).toBe(3);
    talker.say(answer('m3', 'answer 3', 'u3'), result);
    await turnIs(id, 'three', 'ended');
    await sessions.leave(id, 'end');
    talker.end(0);
    await stateIs(id, 'ended');
    const ended = await sessions.fork(id, {});
    expect(await said(ended.id)).toEqual(['one', 'answer 1', 'two', 'answer 2', 'three', 'answer 3']);
  });

  it('leaves out what was undone, and a fork has forks', async () => {
    const id = await talked();
    const { sessions } = scene.node;
    await scene.place.store.transaction(async (tx) => {
      const rows = await tx.db
        .selectFrom('event')
        .select(['sequence', 'turn'])
        .where('turn', '=', 2)
        .orderBy('sequence')
        .execute();
      const after = (rows[0]?.sequence ?? 0) - 1;
      await tx.db.updateTable('turn').set({ undone: 1 }).where('turn', '=', 2).execute();
      const body = {
        kind: 'rewound',
        after,
        checkpointId: 'c',
        beforeId: 'b',
        turn: 2,
        files: true,
        conversation: true,
      } as const;
      await tx.append([{ taskId: null, sessionId: id, turn: null, body: { ...body, replaced: false, saved: [] } }]);
    });
    const fork = await sessions.fork(id, {});
    expect(await said(fork.id)).toEqual(['one', 'answer 1']);
    expect((await turnsOf(fork.id)).map(({ text }) => text)).toEqual(['one']);
    const again = await sessions.fork(fork.id, {});
    expect([await said(again.id), again.forkedFrom]).toEqual([
      ['one', 'answer 1'],
      { session: fork.id, turn: null, replaced: false },
    ]);
  });

  it('reads its large texts where they were said, and says where the rest of a long log is', async () => {
    const id = await talked();
    const { sessions } = scene.node;
    const kept = await scene.place.store.transaction(async (tx) => {
      for (let at = 0; at < FORK_EVENTS; at += 500)
        await tx.append(
          Array.from({ length: 500 }, (_, one) => ({
            ...{ taskId: null, sessionId: id, turn: 2 },
            body: { kind: 'notice', level: 'info', text: `${at + one}` } as const,
          })),
        );
      return keepDetail(tx, id, 'a large text');
    });
    const parted = await sessions.fork(id, {});
    const log = await logOf(parted.id);
    const told = await scene.place.store.read
      .selectFrom('event')
      .select(({ fn }) => fn.countAll<number>().as('all'))
      .where('session_key', '=', 2)
      .where('turn', '=', 2)
      .executeTakeFirstOrThrow();
    expect(log[0]?.body).toMatchObject({ kind: 'notice', text: `What was said before is in the log of the session ${id}.` });
    expect(told.all).toBe(FORK_EVENTS);
    const part = { locator: kept.locator ?? '', offset: 0, limit: 1_000 };
    expect(await sessions.transcripts.detail(parted.id, part)).toMatchObject({ state: 'here', text: 'a large text' });
    expect(await sessions.transcripts.detail(parted.id, { ...part, locator: 'none' })).toEqual({ state: 'missing' });
  });

  it('is one for one request, also when the node dies behind it', async () => {
    const id = await talked();
    const asked = { requestId: 'part', at: '2' };
    const both = await Promise.all([scene.node.sessions.fork(id, asked), scene.node.sessions.fork(id, asked)]);
    expect(new Set(both.map((one) => one.id)).size).toBe(1);
    await scene.node.talking.detach();
    await startAgain();
    expect(await scene.node.sessions.fork(id, asked)).toMatchObject({ id: both[0]?.id, replayed: true });
    expect(await codeOf(scene.node.sessions.fork(id, { ...asked, at: '1' }))).toBe('request_conflict');
    expect((await scene.node.sessions.list({ limit: 10 })).items).toHaveLength(2);
  });

  it('is refused where its conversation is gone, and no session is made', async () => {
    const id = await talked();
    const { sessions } = scene.node;
    await programWrote('', 'other');
    await rm(join(scene.place.home, folder, 'c1.jsonl'));
    expect(await codeOf(sessions.fork(id, { at: '2', requestId: 'lost' }))).toBe('not_found');
    expect((await sessions.list({ limit: 10 })).items).toHaveLength(1);
  });

  it('brings its conversation here first where its program runs elsewhere', async () => {
    const id = await talked();
    await rm(join(scene.place.home, folder, 'c1.jsonl'));
    scene.place.carry = () => programWrote('{"uuid":"u1"}\n{"uuid":"u2"}\n');
    const fork = await scene.node.sessions.fork(id, { at: '2' });
    expect(fork.forkedFrom).toEqual({ session: id, turn: 2, replaced: false });
    await until('the conversation to be there', () => scene.place.homeFiles.has(`${folder}/c1.jsonl`));
  });

  it('goes on with what is here of a place that is gone, and not while nobody can tell', async () => {
    const id = await talked();
    scene.place.carry = () => Promise.reject(new OrreryError('backend_unreachable', 'Nobody answers.'));
    expect(await codeOf(scene.node.sessions.fork(id, { at: '2' }))).toBe('backend_unreachable');
    expect((await scene.node.sessions.list({ limit: 10 })).items).toHaveLength(1);
    scene.place.carry = () => Promise.reject(new OrreryError('keeper_lost', 'It is gone.'));
    expect((await scene.node.sessions.fork(id, { at: '2' })).forkedFrom).toMatchObject({ replaced: false });
  });

  it('leaves no copy of a conversation when it cannot be recorded', async () => {
    const id = await talked();
    await scene.node.sessions.fork(id, { at: '2', requestId: 'part' });
    const kept = async () => (await readdir(join(scene.place.home, '../../../conversations'))).length;
    expect(await kept()).toBe(1);
    const both = [1, 2].map(() => scene.node.sessions.fork(id, { at: '2', requestId: 'again' }));
    expect(new Set((await Promise.all(both)).map((fork) => fork.id)).size).toBe(1);
    expect(await kept()).toBe(2);
  });

  it('begins a new conversation with a record where nobody knows the place in the old one', async () => {
    const id = await talked();
    await scene.place.store.transaction(async (tx) => {
      const conversation = JSON.stringify({ conversation: 'c1', position: null });
      await tx.db.updateTable('session_checkpoint').set({ conversation }).execute();
    });
    const fork = await scene.node.sessions.fork(id, { at: '2' });
    expect(fork).toMatchObject({ forks: 'native', forkedFrom: { session: id, turn: 2, replaced: true } });
    await scene.node.sessions.addTurn(fork.id, { text: 'go on', kind: 'prompt', requestId: 'on' });
    const words = await until('the record', () => {
      const all = scene.place.talkers.flatMap(({ heard }) => heard.map(wordsOf));
      return all.find((text) => text?.endsWith('\n\ngo on') === true) ?? null;
    });
    expect(words).toContain('It parted there');
    expect(words).toContain('answer 1');
    expect(words).not.toContain('answer 2');
  });
});

describe('a session of a program that cannot go on from a place in a conversation', () => {
  const cannot = async (): Promise<void> => {
    scene.place.forks = false;
    await scene.node.talking.detach();
    await startAgain();
  };

  it('parts with a record of what was said, which is said before, in the answer and in the log', async () => {
    const id = await talked();
    await cannot();
    const { sessions } = scene.node;
    expect(await sessions.show(id)).toMatchObject({ forks: 'record', forkedFrom: null });
    const before = await logOf(id);
    const fork = await sessions.fork(id, { requestId: 'part' });
    expect(fork).toMatchObject({ forks: 'record', forkedFrom: { session: id, turn: null, replaced: true } });
    expect(await logOf(id)).toEqual(before);
    expect(await said(fork.id)).toEqual(['one', 'answer 1', 'two', 'answer 2']);
    const warned = (await logOf(fork.id)).flatMap(({ body }) =>
      body.kind === 'notice' && body.level === 'warning' ? [body.text] : [],
    );
    expect(warned).toEqual([
      `It parted from the session ${id} behind its last turn. talker cannot go on from a place in a conversation: a new one begins, and is given a record of what was said.`,
    ]);
    await sessions.addTurn(fork.id, { text: 'go on', kind: 'prompt', requestId: 'on' });
    const words = await until('the record', () => {
      const all = scene.place.talkers.flatMap(({ heard }) => heard.map(wordsOf));
      return all.find((text) => text?.endsWith('\n\ngo on') === true) ?? null;
    });
    expect(words).toContain('answer 2');
    expect(await sessions.fork(id, { requestId: 'part' })).toMatchObject({ id: fork.id, replayed: true });
  });

  it('has nothing to be given where nothing was said', async () => {
    const { id } = await begin({ requestId: 'first', name: 'talk', prompt: 'one' });
    await turn(id, 'one', 1);
    await cannot();
    const fork = await scene.node.sessions.fork(id, { at: '1' });
    expect(fork.forkedFrom).toEqual({ session: id, turn: 1, replaced: false });
  });
});
