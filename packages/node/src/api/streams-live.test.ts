import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LiveText } from '@orrery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listen, type Heard } from '../../test/event-stream.ts';
import { addSession, said } from '../../test/transcript-suite.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { createLiveTexts, type LiveTexts } from '../session/index.ts';
import { startInlineWriter } from '../store/sqlite/inline-writer.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import type { Store } from '../store/store.ts';
import { createApi } from './door.ts';
import { serveApi, type ApiServer } from './server.ts';
import { createStreams } from './streams.ts';

const log = createLog({ sink: { write: () => undefined, close: () => undefined }, clock: systemClock });
const id = 'ses_01arz3ndektsv4rrffq69g5fav';

describe('live text on a stream', () => {
  let directory = '';
  let store: Store;
  let server: ApiServer;
  let texts: LiveTexts;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'orrery-live-'));
    store = await openStore({ file: join(directory, 'orrery.db'), clock: systemClock, log, startWriter: startInlineWriter });
    await store.transaction((tx) => addSession(tx, { id }));
    texts = createLiveTexts({ store, clock: systemClock });
    const streams = createStreams({ store, log, liveTexts: texts });
    const admit = async () => ({ name: 'test', scope: 'viewer' as const });
    const app = createApi({ handlers: {}, admit, streams, clock: systemClock, log });
    const upgrades = { take: () => undefined, close: () => undefined };
    server = await serveApi({ app, streams, upgrades, host: '127.0.0.1', port: 0, insecureBind: false });
  });
  afterEach(async () => {
    await server.close();
    texts.close();
    await store.close();
    await rm(directory, { recursive: true });
  });

  const open = (query = '?live=1') => listen(`${server.url}/api/v1/sessions/${id}/events${query}`);
  const liveOf = (heard: readonly Heard[]): LiveText[] =>
    heard.flatMap(({ event, data }) => (event === 'live' ? [data as LiveText] : []));
  const textOf = (pieces: readonly LiveText[]): string =>
    pieces.reduce((text, { at, append }) => (at === 0 ? append : text.length === at ? text + append : `${text}[hole]`), '');
  const write = (append: string): void => texts.add(id, { kind: 'text', row: 'a', append });

  it('comes in pieces without an id to who asked, also in the middle, and the stored row follows', async () => {
    texts.add(id, { kind: 'text', row: 'a', text: '' });
    const [early, plain] = [await open(), await open('')];
    await early.frames(1);
    write('one ');
    await early.frames(2);
    const late = await open();
    await late.frames(2);
    write('two');
    await Promise.all([early.frames(3), late.frames(3)]);
    texts.over(id, { kind: 'text', row: 'a' });
    await store.append([said(id, { kind: 'text', row: 'a', text: 'one two' })]);
    await Promise.all([early.frames(4), late.frames(4), plain.frames(2)]);
    for (const reader of [early, late]) {
      expect(textOf(liveOf(reader.heard))).toBe('one two');
      expect(reader.heard.map(({ event, id: cursor }) => [event, cursor])).toEqual([
        ['hello', null],
        ['live', null],
        ['live', null],
        ['message', '1'],
      ]);
    }
    expect(plain.heard.map(({ event }) => event)).toEqual(['hello', 'message']);
    for (const reader of [early, late, plain]) reader.leave();
  });

  it('begins anew behind a stored part of its row', async () => {
    const reader = await open();
    await reader.frames(1);
    texts.add(id, { kind: 'text', row: 'a', text: 'one' });
    await reader.frames(2);
    await store.append([said(id, { kind: 'text', row: 'a', text: 'one' })]);
    await reader.frames(3);
    write(' two');
    await reader.frames(4);
    expect(liveOf(reader.heard)).toEqual([
      { kind: 'text', row: 'a', at: 0, append: 'one' },
      { kind: 'text', row: 'a', at: 0, append: 'one two' },
    ]);
    reader.leave();
  });

  it('waits for a reader that takes nothing, whose events are all there', async () => {
    const reader = await open();
    await reader.frames(1);
    reader.response.pause();
    const rows = 12;
    for (let row = 0; row < rows; row++) {
      texts.add(id, { kind: 'text', row: `r${row}`, text: '☃'.repeat(60_000) });
      await systemClock.sleep(60);
    }
    await store.append([said(id, { kind: 'text', row: 'stored', text: 'here' })]);
    reader.response.resume();
    while (new Set(liveOf(reader.heard).map(({ row }) => row)).size < rows) await reader.frames(reader.heard.length + 1);
    for (let row = 0; row < rows; row++)
      expect(textOf(liveOf(reader.heard).filter((piece) => piece.row === `r${row}`)).length).toBe(60_000);
    expect(reader.heard.filter(({ id: cursor }) => cursor !== null).map(({ id: cursor }) => cursor)).toEqual(['1']);
    reader.leave();
  });
});
