// Sessions where programs run somewhere else: what a fork of one has, on each such backend.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { SessionView } from '@orrery/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, PROVIDER_KEY, type AgentName } from './agents.ts';
import { settledLeftovers, nothing } from './leftovers.ts';
import type { Life } from './life.ts';
import { partingSteps, partsAndGoesOn, type Files } from './parting.ts';
import { placeOfSuite, type Place } from './place.ts';
import { nothingThere, type RemoteSubject } from './remote-tasks.ts';
import { makeRepository } from './repository.ts';
import { logOf, sessionIn, texts, turnOver } from './sessions.ts';
import { waitFor } from './wait.ts';

/** A program of the operator's own: it keeps each first line that it was told, and says whether a record came with it. */
const script = `
spec=$(cat "$ORRERY_HARNESS_TURN")
case "$spec" in *'"prompt":"This is a record'*) had=record ;; *) had=words ;; esac
case "$spec" in *'MARKER-one'*) knows=one ;; *) knows=nothing ;; esac
echo "$had" >> told.txt
printf '{"type":"message","message":{"role":"ROLE_AGENT","parts":[{"type":"text","text":"%s, %s"}]}}\\n' $had $knows
printf '{"type":"result","text":""}\\n'
`;

const isTold = (path: string | Buffer): boolean => path.toString().endsWith('/told.txt');

/** Ends sessions, and takes their environments away. */
const endAll = async (client: Client, sessions: readonly SessionView[]): Promise<void> => {
  for (const { id, environment } of sessions) {
    await client.call('sessionEnd', { params: { id }, body: {} });
    await sessionIn(client, id, ['ended']);
    const at = { params: { id: environment.id }, query: { salvage: 'true' }, timeoutMs: 120_000 } as const;
    await client.call('environmentDelete', at);
  }
};

/** Files of a session's environment, asked for by a command in it. */
const filesThere = (place: Place): Files => {
  const inside = async ({ environment }: SessionView, ...command: readonly string[]): Promise<string> =>
    (await place.cli(['env', 'exec', environment.name, '--', ...command])).stdout;
  return {
    list: async (one) => (await inside(one, 'ls')).split('\n'),
    write: async (one, file) => void (await inside(one, 'touch', file)),
  };
};

/** The real programs that go on with a memory of their own: each in a container, a pod or on a host, with the broker in between. */
export const describeRemoteParting = (subject: RemoteSubject, names: readonly AgentName[]): void => {
  describe('a session with a program of its own memory', async () => {
    const model = await modelOfSuite({ steps: [] });
    const place = placeOfSuite();
    let life: Life;
    let client: Client;
    beforeAll(async () => {
      place.configure({ ...subject.config(), ...configFor(model) });
      await place.cli(['secret', 'set', 'test'], { input: PROVIDER_KEY });
      life = await place.up();
      client = place.client(life);
    });

    for (const name of names)
      it.skipIf(!isThere(name))(`parts with ${name}: the fork goes on from its memory, while the other one runs`, async () => {
        const project = makeRepository(place, `parted-${name}`, {});
        await client.call('projectAdd', { body: { source: project } });
        const session = await client.call('sessionCreate', { body: { project, harness: name, mode: 'all' } });
        model.reset(partingSteps);
        const fork = await partsAndGoesOn({ client, model, files: filesThere(place) }, session, 'native');
        expect(fork.environment.backend).toBe(subject.backend);
        await endAll(client, [fork, session]);
        expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
        await nothingThere(subject);
      });
  });
};

/** Runs the case in a place of its own. */
export const describeRemoteSessions = (subject: RemoteSubject): void => {
  describe('a session', () => {
    const place = placeOfSuite();
    let life: Life;
    let client: Client;
    beforeAll(async () => {
      const programs = join(place.folder, 'keeper-of-words');
      mkdirSync(programs);
      writeFileSync(join(programs, 'turn.sh'), script);
      const words = { command: ['/bin/sh', join(programs, 'turn.sh')], files: [programs], callsModel: false };
      place.configure({ ...subject.config(), harnesses: { words } });
      life = await place.up();
      client = place.client(life);
    });

    const say = async ({ id }: SessionView, text: string): Promise<string | undefined> => {
      const turn = await client.call('turnAdd', { params: { id }, body: { text } });
      expect(await turnOver(client, id, turn.id)).toMatchObject({ outcome: 'success' });
      return texts(await logOf(client, id)).at(-1);
    };
    const told = async ({ environment }: SessionView): Promise<string> =>
      (await place.cli(['env', 'exec', environment.name, '--', 'cat', 'told.txt'])).stdout;

    it('parts before a turn: the fork has the files of that moment in a place of its own, and both go on', async () => {
      const project = makeRepository(place, 'parted', {});
      await client.call('projectAdd', { body: { source: project } });
      const session = await client.call('sessionCreate', { body: { project, harness: 'words', mode: 'all' } });
      expect(await say(session, 'First. MARKER-one')).toBe('words, one');
      // What a turn did is here when it has ended, whatever becomes of the place until the next one.
      await waitFor('its work', () => (readdirSync(place.data, { recursive: true }).some(isTold) ? true : null));
      expect(await say(session, 'Second. MARKER-two')).toBe('words, nothing');
      const fork = await client.call('sessionFork', { params: { id: session.id }, body: { at: '2', requestId: 'part' } });
      expect(fork).toMatchObject({
        environment: { backend: subject.backend },
        forkedFrom: { session: session.id, turn: 2, replaced: true },
      });
      expect(await say(fork, 'Another way.')).toBe('record, one');
      expect(await say(session, 'On as before.')).toBe('words, nothing');
      expect([await told(fork), await told(session)]).toEqual(['words\nrecord\n', 'words\nwords\nwords\n']);
      await endAll(client, [fork, session]);
      expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
    });
  });
};
