import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConversationBody } from '@orrery/protocol';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addSession } from '../../test/transcript-suite.ts';
import { inlineBody, largeText } from '../harness/clip.ts';
import { INLINE_BODY_BYTES } from '../harness/limits.ts';
import { systemClock } from '../kernel/clock.ts';
import { DETAIL_BYTES, DETAIL_PIECE_BYTES, SESSION_DETAIL_BYTES } from '../kernel/limits.ts';
import { createLog } from '../kernel/log.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { apart, keepDetail, readDetail, withPicturesKept } from './details.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
const id = 'ses_01arz3ndektsv4rrffq69g5fav';
const other = 'ses_01arz3ndektsv4rrffq69g5faw';
let directory = '';
let store: Store;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-details-'));
  store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
  await store.transaction(async (tx) => {
    await addSession(tx, { id });
    await addSession(tx, { id: other });
  });
});
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true });
});

const keep = (text: string, sessionId = id) => store.transaction((tx) => keepDetail(tx, sessionId, text));
type Part = { readonly locator: string | null; readonly offset: number; readonly limit: number };
const read = ({ locator, ...part }: Part, sessionId = id) =>
  readDetail(store.read, { sessionId, locator: locator ?? '', ...part });
const whole = async (locator: string | null, limit: number): Promise<string> => {
  let text = '';
  for (let offset: number | null = 0; offset !== null;) {
    const page = await read({ locator, offset, limit });
    if (page.state === 'missing') return 'missing';
    expect(page.offset).toBe(offset);
    text += page.text;
    offset = page.nextOffset;
  }
  return text;
};

it('a text comes back whole in parts of any size, cut at characters', async () => {
  const text = 'é☃𝄞x'.repeat(20_000);
  const { locator, bytes, keptBytes } = await keep(text);
  expect([bytes, keptBytes]).toEqual([Buffer.byteLength(text), Buffer.byteLength(text)]);
  for (const limit of [1_000_000, DETAIL_PIECE_BYTES, 65_537, 9_999]) expect(await whole(locator, limit)).toBe(text);
  const middle = await read({ locator, offset: 4, limit: 16 });
  expect(middle).toMatchObject({ state: 'here', offset: 5, text: '𝄞xé☃𝄞x' });
  expect(await read({ locator, offset: 10_000_000, limit: 100 })).toMatchObject({ state: 'here', text: '', nextOffset: null });
});

it('is kept once in a session, belongs to it alone, and goes with it', async () => {
  const text = 'x'.repeat(100_000);
  const [first, again] = [await keep(text), await keep(text)];
  expect(again).toEqual(first);
  const bytes = () => store.read.selectFrom('session').select('detail_bytes').where('id', '=', id).executeTakeFirstOrThrow();
  expect(await bytes()).toEqual({ detail_bytes: 100_000 });
  expect(await read({ locator: first.locator, offset: 0, limit: 100 }, other)).toEqual({ state: 'missing' });
  await store.transaction((tx) => tx.db.deleteFrom('session').where('id', '=', id).execute());
  expect(await read({ locator: first.locator, offset: 0, limit: 100 })).toEqual({ state: 'missing' });
});

it('is bounded: of one text, and of a session', async () => {
  const long = await keep(`${'x'.repeat(DETAIL_BYTES - 1)}☃ and more`);
  expect([long.keptBytes, long.bytes]).toEqual([DETAIL_BYTES - 1, DETAIL_BYTES - 1 + 12]);
  await store.transaction((tx) =>
    tx.db
      .updateTable('session')
      .set({ detail_bytes: SESSION_DETAIL_BYTES - 10 })
      .where('id', '=', id)
      .execute(),
  );
  expect(await keep('y'.repeat(11))).toEqual({ locator: null, bytes: 11, keptBytes: 0 });
  expect((await keep('y'.repeat(10))).locator).not.toBeNull();
});

it('leaves the two ends of a large text in its event, and small ones as they are', async () => {
  const output = `begin ${'ü'.repeat(5_000)} end`;
  const body: ConversationBody = { kind: 'tool.result', row: 't', tool: 'shell', output, outputBytes: 10_010, failed: false };
  const short: ConversationBody = { ...body, output: 'short' };
  const [large, small] = await store.transaction(async (tx) => [
    await apart(tx, id, { body, large: largeText(body) }),
    await apart(tx, id, { body: short, large: largeText(short) }),
  ]);
  expect(small).toEqual(short);
  expect(large).toMatchObject({ detail: { bytes: 10_010, keptBytes: 10_010 } });
  const inline = 'output' in large! ? large.output : '';
  expect([
    inline.startsWith('begin ü'),
    inline.endsWith('ü end'),
    /\n\[… \d+ of 10010 bytes are left out here …\]\n/.test(inline),
  ]).toEqual([true, true, true]);
  expect(Buffer.byteLength(inline)).toBeLessThan(INLINE_BODY_BYTES + 100);
  expect(await whole('detail' in large! ? (large.detail?.locator ?? null) : null, 4_096)).toBe(output);
  // A log that keeps nothing beside has the beginning.
  expect(inlineBody(body)).toMatchObject({ output: expect.stringMatching(/^begin ü+\n\[cut: 4096 of 10010 bytes shown\]$/) });
});

it('pictures of a result are kept beside the log, and one that has no room is said to be there', async () => {
  const picture = (data: string) => ({ mediaType: 'image/png' as const, bytes: 6, locator: `data:image/png;base64,${data}` });
  const result = { kind: 'tool.result', row: 'a', tool: 'Read', output: '[image]', outputBytes: 7, failed: false } as const;
  const kept = (pictures: ReturnType<typeof picture>[]) =>
    store.transaction((tx) => withPicturesKept<ConversationBody>(tx, id, { ...result, pictures }));
  const body = await kept([picture('iVBORw0K'), picture('iVBORw0K')]);
  const [one, same] = body.kind === 'tool.result' ? (body.pictures ?? []) : [];
  expect(one).toEqual({ mediaType: 'image/png', bytes: 6, locator: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(same).toEqual(one);
  expect(await whole(one?.locator ?? null, 100)).toBe('iVBORw0K');
  await store.transaction((tx) =>
    tx.db
      .updateTable('session')
      .set({ detail_bytes: SESSION_DETAIL_BYTES })
      .where('id', '=', id)
      .execute()
      .then(() => undefined),
  );
  expect(await kept([picture('AAAA')])).toMatchObject({ pictures: [{ locator: null }] });
});
