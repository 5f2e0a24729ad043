import { describe, expect, it } from 'vitest';
import { createScene, echo, init, result } from '../../test/talking-scene.ts';
import { removeOldInteractions } from '../interaction/index.ts';
import { createCheckpointSweep, findSession, insertSessionRun, pruneAll, PRUNED_AT_ONCE, removeRuns } from '../session/index.ts';

const { scene, begin, given, stateIs, turnIs } = createScene();

/** A session with a turn behind it, whose program runs. */
const going = async (name: string) => {
  const { id } = await begin({ requestId: name, name, prompt: name });
  const talker = await given(name);
  talker.say(init, echo(name), result);
  await turnIs(id, name, 'ended');
  return { id, talker };
};
const end = async ({ id, talker }: Awaited<ReturnType<typeof going>>): Promise<void> => {
  await scene.node.sessions.leave(id, 'end');
  talker.end(0);
  await stateIs(id, 'ended');
};
const runsOf = async (id: string): Promise<string[]> =>
  (await scene.place.store.read.selectFrom('session_run').select('id').where('session_id', '=', id).orderBy('id').execute()).map(
    (row) => row.id,
  );
const old = (id: string, session: string) => ({
  ...{ id, session_id: session, generation: 0, described: '', identity: null, state: 'ended', ready: 1 },
  ...{ stdout_offset: 0, stderr_offset: 0, stderr_tail: '', dialogue: '{}', end: null, started_at: 1, ended_at: 2 },
});
const later = (): number => scene.place.clock.nowMs() + 1_000;

describe('of sessions', () => {
  it('processes that ended go after their days, all of one that is over; the one that lives and its newest stay', async () => {
    const { store } = scene.place;
    const [over, alive] = [await going('over'), await going('alive')];
    await end(over);
    const newest = (await findSession(store.read, alive.id))?.run_id ?? '';
    await store.transaction(async (tx) => {
      for (let count = 0; count < PRUNED_AT_ONCE + 5; count++)
        await insertSessionRun(tx.db, old(`run_old${String(count).padStart(4, '0')}`, alive.id));
    });
    expect(await pruneAll(store, (db, most) => removeRuns(db, { beforeMs: 2, most }))).toBe(0);
    expect(await pruneAll(store, (db, most) => removeRuns(db, { beforeMs: later(), most }))).toBe(PRUNED_AT_ONCE + 6);
    expect([await runsOf(over.id), await runsOf(alive.id)]).toEqual([[], [newest]]);
    // Its inputs stay: the same request is answered as ever.
    expect((await scene.node.sessions.turns(over.id)).map(({ requestId }) => requestId)).toEqual(['over.prompt']);
    await scene.node.sessions.leave(alive.id, 'close');
    alive.talker.end(0);
    await stateIs(alive.id, 'dormant');
    await pruneAll(store, (db, most) => removeRuns(db, { beforeMs: later(), most }));
    await scene.node.sessions.addTurn(alive.id, { text: 'again', kind: 'prompt', requestId: 'again' });
    const woken = await given('again');
    woken.say(init, echo('again'), result);
    await turnIs(alive.id, 'again', 'ended');
  });

  it('what was asked goes once it is settled and the session is over long enough', async () => {
    const { store } = scene.place;
    const [over, alive] = [await going('over'), await going('alive')];
    await end(over);
    const asked = (id: string, session: string, state: string) => ({
      ...{ id, session_id: session, generation: 0, key: id, turn: 1, ask: '{}', revision: 1, state, outcome: null },
      ...{ answers: null, message: null, by: null, told: 1, deadline_at: null, created_at: 1, settled_at: 1 },
    });
    const rows = [
      asked('int_over', over.id, 'settled'),
      asked('int_open', over.id, 'open'),
      asked('int_alive', alive.id, 'settled'),
    ];
    await store.transaction(async (tx) => void (await tx.db.insertInto('interaction').values(rows).execute()));
    const prune = (beforeMs: number) => pruneAll(store, (db, most) => removeOldInteractions(db, { beforeMs, most }));
    const ended = (await findSession(store.read, over.id))?.ended_at ?? 0;
    expect(await prune(ended)).toBe(0);
    expect(await prune(ended + 1)).toBe(1);
    const left = await store.read.selectFrom('interaction').select('id').orderBy('id').execute();
    expect(left.map(({ id }) => id)).toEqual(['int_alive', 'int_open']);
  });

  it('a checkpoint that nobody names goes when it is seen a second time; one that gets its row in between stays', async () => {
    const { store } = scene.place;
    const session = await going('saved');
    const refs = ['left', 'making', 'named', 'before'].map((name) => ({
      ref: `refs/orrery/checkpoints/s/${name}`,
      sha: name,
      namedMs: name === 'before' ? 999 : name === 'left' ? null : 1000,
    }));
    const name = async (one: string): Promise<void> =>
      store.transaction(async (tx) => {
        await tx.db
          .insertInto('session_checkpoint')
          .values({
            ...{ id: one, session_id: session.id, project_id: 'prj_1', kind: 'asked', turn: null, sequence: 1, sha: one },
            ...{ ref: `refs/orrery/checkpoints/s/${one}`, head_sha: one, branch: null, staged: null, conversation: null },
            ...{ undone: '[]', notes: '[]', created_at: 1 },
          })
          .execute();
      });
    const dropped: string[] = [];
    const sweep = createCheckpointSweep({
      store,
      listed: async (projectId) => (projectId === 'prj_1' ? refs : []),
      drop: async (_project, { sha }) => void dropped.push(sha),
      startedAtMs: 1000,
    });
    await name('named');
    // That of a node that died is taken at once.
    expect(await sweep(['prj_0', 'prj_1'])).toBe(1);
    expect(dropped).toEqual(['before']);
    refs.pop();
    await name('making');
    expect(await sweep(['prj_0', 'prj_1'])).toBe(1);
    expect(dropped).toEqual(['before', 'left']);
  });
});
