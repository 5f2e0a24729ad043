import type { EventBody } from '@orrery/protocol';
import { expect, it } from 'vitest';
import type { NewEvent, Store, Tx } from '../src/store/store.ts';

/** A session's row, as little of it as a log needs. */
export const addSession = async (
  tx: Tx,
  { id, projectId = 'prj_1' }: { readonly id: string; readonly projectId?: string },
): Promise<void> => {
  await tx.db
    .insertInto('session')
    .values({
      id,
      request_id: `request of ${id}`,
      intent_hash: '',
      name: `name of ${id}`,
      project_id: projectId,
      environment_id: 'env_1',
      owns_environment: 1,
      harness: 'claude',
      mode: 'ask',
      state: 'idle',
      generation: 0,
      failed_starts: 0,
      catalogue: '{}',
      created_at: 1,
      changed_at: 1,
    })
    .execute();
};

export const said = (sessionId: string, body: EventBody): NewEvent => ({ taskId: null, sessionId, turn: 1, body });
const text = (row: string, words: string): EventBody => ({ kind: 'text', row, text: words });

const OTHER = 'ses_01arz3ndektsv4rrffq69g5faw';

/** What every store promises of transcripts. */
export const transcriptPromises = (storeOf: () => Store): void => {
  const session = 'ses_01arz3ndektsv4rrffq69g5fav';
  const begin = async (): Promise<Store> => {
    const store = storeOf();
    await store.transaction(async (tx) => {
      await addSession(tx, { id: session });
      await addSession(tx, { id: OTHER, projectId: 'prj_2' });
    });
    return store;
  };
  const words = async (store: Store, ...terms: string[]): Promise<string[]> =>
    (
      await store.searchWords({
        terms: terms.map((term) => ({ text: term, prefix: false })),
        session: null,
        project: null,
        before: null,
        limit: 10,
      })
    ).map(({ snippet }) => snippet);

  it('folds the revisions of a row at its first place, whoever is between them and wherever a page ends', async () => {
    const store = await begin();
    await store.append([
      said(session, { kind: 'user', text: 'go' }),
      said(session, text('m1', 'a')),
      said(OTHER, text('m1', 'other')),
    ]);
    await store.transaction((tx) =>
      tx.append([
        said(session, { kind: 'thinking', row: 'm1', text: 'hm' }),
        said(session, text('m1', 'a b')),
        said(session, text('m2', 'c')),
      ]),
    );
    await store.append([said(session, text('m1', 'a b c'))]);
    const rows = async (before: number | null, limit: number) =>
      (await store.transcriptRows({ session, before, limit })).map(({ firstSequence, event }) => [firstSequence, event.sequence]);
    expect(await rows(null, 10)).toEqual([
      [1, 1],
      [2, 6],
      [3, 3],
      [5, 5],
    ]);
    expect([await rows(null, 2), await rows(3, 2), await rows(1, 2)]).toEqual([
      [
        [3, 3],
        [5, 5],
      ],
      [
        [1, 1],
        [2, 6],
      ],
      [],
    ]);
    const pages = [
      await store.eventsBefore({ session, before: null, limit: 4 }),
      await store.eventsBefore({ session, before: 3, limit: 4 }),
    ];
    expect(pages.map((page) => page.map(({ sequence }) => sequence))).toEqual([
      [3, 4, 5, 6],
      [1, 2],
    ]);
  });

  it('finds the words of the newest revision of a row, and nothing in what models think or tools print', async () => {
    const store = await begin();
    await store.append([
      said(session, text('m1', 'The parser is brok')),
      said(session, text('m1', 'The parser is broken: “Zürich” fails')),
      said(session, { kind: 'thinking', row: 'm1', text: 'parser hidden' }),
      said(session, { kind: 'tool.result', row: 't1', tool: 'shell', output: 'parser printed', outputBytes: 14, failed: false }),
      said(session, { kind: 'tool.call', row: 't1', tool: 'shell', input: 'make check\u0001' }),
      said(OTHER, { kind: 'user', text: 'mend the PARSER' }),
    ]);
    expect(await words(store, 'parser')).toEqual([
      'mend the \u0001PARSER\u0002',
      'The \u0001parser\u0002 is broken: “Zürich” fails',
    ]);
    expect([await words(store, 'zurich', 'fails'), await words(store, 'brok'), await words(store, 'check')]).toEqual([
      ['The parser is broken: “\u0001Zürich\u0002” \u0001fails\u0002'],
      [],
      ['shell make \u0001check\u0002 '],
    ]);
  });

  it('narrows a search to a session or a project, and goes on behind a page', async () => {
    const store = await begin();
    await store.append([
      said(session, text('m1', 'one word')),
      said(OTHER, text('m1', 'two words word')),
      said(session, text('m2', 'word three')),
    ]);
    const find = async (given: { session?: string; project?: string; before?: number; limit?: number; prefix?: boolean }) =>
      (
        await store.searchWords({
          terms: [{ text: 'word', prefix: given.prefix ?? false }],
          session: given.session ?? null,
          project: given.project ?? null,
          before: given.before ?? null,
          limit: given.limit ?? 10,
        })
      ).map(({ seq }) => seq);
    expect([
      await find({}),
      await find({ session }),
      await find({ project: 'prj_2' }),
      await find({ session: 'ses_01arz3ndektsv4rrffq69g5faz' }),
    ]).toEqual([[3, 2, 1], [3, 1], [2], []]);
    expect([await find({ limit: 2 }), await find({ before: 2 }), await find({ project: 's1' })]).toEqual([[3, 2], [1], []]);
  });

  it('takes nothing of a query for its own language', async () => {
    const store = await begin();
    await store.append([said(session, text('m1', 'AND the "quoted" NEAR scope s1 -x'))]);
    const hostile = [
      'AND',
      '"',
      'scope:s1',
      'NEAR(the',
      '-x',
      '^the',
      '{words}',
      '*',
      ')',
      'a"b',
      "';DROP TABLE event;--",
      '()',
      'the*',
    ];
    for (const term of hostile) await expect(words(store, term, 'the')).resolves.toBeInstanceOf(Array);
    expect([
      (await words(store, 'AND')).length,
      (await words(store, 'scope:s1')).length,
      (await words(store, 'x" OR "the')).length,
    ]).toEqual([1, 1, 0]);
  });

  it('finds nothing of what was taken from the log', async () => {
    const store = await begin();
    await store.append([said(session, text('m1', 'old words')), said(session, text('m2', 'new words'))]);
    await store.transaction((tx) => tx.db.deleteFrom('event').where('seq', '=', 1).execute());
    expect(await words(store, 'words')).toEqual(['new \u0001words\u0002']);
    const left = await store.read
      .selectFrom('session_words' as never)
      .selectAll()
      .execute();
    expect(left.length).toBe(1);
  });

  it('takes back with a failed transaction what it wrote to the index', async () => {
    const store = await begin();
    await store.append([said(session, text('m1', 'steady'))]);
    const failed = store.transaction(async (tx) => {
      await tx.append([said(session, text('m1', 'gone'))]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect([(await words(store, 'steady')).length, await words(store, 'gone')]).toEqual([1, []]);
  });
};
