/** What a session writes is seen while it is written, by readers from the start and from the middle, and what they saw at the end is what paging gives. */
import { createLiveRows, type Client, type LiveRow } from '@orrery/client';
import type { OrreryEvent, SessionView, TranscriptRow } from '@orrery/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf, type AgentName } from './support/agents.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { turnOver } from './support/sessions.ts';
import { waitFor } from './support/wait.ts';

const SLOW = { timeout: 240_000 };
const talkers = ['claude', 'codex', 'pi'] as const satisfies readonly AgentName[];

const words = (what: string): string => Array.from({ length: 24 }, (_, index) => `${what}-${index} é☃`).join(' ');
const cases = {
  live: [
    {
      thinking: words('thought'),
      text: words('said'),
      shell: 'for i in 1 2 3; do echo printed $i; sleep 0.4; done',
      chunk_ms: 120,
    },
    { text: words('then'), chunk_ms: 120 },
  ],
};

/** A reader: rows folded as the protocol says, what is live above them, and what each row was when it was stored. */
const createReader = (client: Client, id: string, after = 0) => {
  const stop = new AbortController();
  const live = createLiveRows();
  const rows = new Map<string, TranscriptRow>();
  const before: { readonly stored: OrreryEvent['body']; readonly live: string | null }[] = [];
  const seen: LiveRow[] = [];
  let pieces = 0;
  const read = async (): Promise<void> => {
    const onLive = (piece: Parameters<typeof live.take>[0] | null): void => {
      if (piece === null) return live.forget();
      pieces += 1;
      live.take(piece);
      seen.push(...live.rows());
    };
    for await (const event of client.sessionEvents(id, { after, signal: stop.signal, onLive })) {
      const { body, sequence } = event;
      if ('row' in body)
        before.push({
          stored: body,
          live: live.rows().find(({ kind, row }) => kind === body.kind && row === body.row)?.text ?? null,
        });
      live.stored(event);
      const key = 'row' in body ? `${body.kind} ${body.row}` : `event ${sequence}`;
      rows.set(key, { firstSequence: rows.get(key)?.firstSequence ?? sequence!, event });
    }
  };
  const reading = read();
  return {
    rows: () => [...rows.values()],
    live: () => live.rows(),
    before,
    seen,
    pieces: () => pieces,
    end: () => {
      stop.abort();
      return reading;
    },
  };
};

const place = placeOfSuite();
let client: Client;
let repository: string;

beforeAll(async () => {
  const model = await modelOfSuite(scriptsOf(cases));
  place.configure(configFor(model));
  await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
  client = place.client(await place.up());
  repository = makeRepository(place, 'written-about', {});
  await client.call('projectAdd', { body: { source: repository } });
});

for (const name of talkers) {
  describe.skipIf(!isThere(name))(`live text of ${name}`, SLOW, () => {
    it('is seen while it is written, and at the end of the turn the reader has what paging gives', async () => {
      const session: SessionView = await client.call('sessionCreate', {
        body: { project: repository, harness: name, mode: 'all', prompt: `Write. [live] ${name}` },
      });
      const { id } = session;
      const first = createReader(client, id);
      await waitFor('text to be written', async () => (first.live().some(({ kind }) => kind === 'text') ? true : null), 120_000);
      const late = createReader(client, id, (await client.call('sessionShow', { params: { id } })).sequence);
      const [turn] = (await client.call('turnList', { params: { id } })).items;
      expect((await turnOver(client, id, turn!.id)).outcome).toBe('success');
      const page = await client.call('sessionRows', { params: { id }, query: { limit: 1000 } });
      await waitFor('the reader to have it all', async () => (first.rows().at(-1)?.event.body.kind === 'state' ? true : null));

      expect(first.rows()).toEqual(page.items);
      expect([first.live(), late.live()]).toEqual([[], []]);
      const stored = page.items.map(({ event: { body } }) => body);
      expect(stored.flatMap((body) => (body.kind === 'text' ? [body.text] : []))).toEqual([words('said'), words('then')]);
      // What was seen of each text is the beginning of what was stored, and it was seen before.
      const texts = first.before.filter(({ stored: body }) => body.kind === 'text');
      for (const { stored: body, live } of texts)
        expect([body.kind === 'text' && live !== null && body.text.startsWith(live), (live ?? '').length > 40]).toEqual([
          true,
          true,
        ]);
      for (const row of first.seen.filter(({ kind }) => kind !== 'tool.result'))
        expect(stored.some((body) => 'text' in body && body.kind === row.kind && body.text.startsWith(row.text))).toBe(true);
      // One that came in the middle was given the row so far.
      expect(late.before.find(({ stored: body }) => body.kind === 'text')?.live?.startsWith('said-0')).toBe(true);
      const output = first.seen.filter(({ kind }) => kind === 'tool.result').map(({ text }) => text);
      // Claude Code tells what a command printed when it has ended, Codex leaves out what it printed first.
      if (name !== 'claude') expect(output.some((text) => text.includes('printed 2') && !text.includes('printed 3'))).toBe(true);
      expect(first.pieces()).toBeGreaterThan(10);
      await Promise.all([first.end(), late.end()]);
      await client.call('sessionEnd', { params: { id }, body: {} });
    });
  });
}
