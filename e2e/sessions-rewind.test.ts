/** Sessions of real agent programs that go back: files and conversation, and nothing that was there is lost. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { SessionView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { beforeAll, describe, expect, it } from 'vitest';
import { callsWith, configFor, isThere, modelOfSuite, scriptsOf, type AgentName } from './support/agents.ts';
import { codeOf } from './support/commands.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, sessionIn, turnOver } from './support/sessions.ts';

const SLOW = { timeout: 240_000 };

const talkers = ['claude', 'codex', 'pi'] as const satisfies readonly AgentName[];

const cases = {
  back: [
    { shell: 'echo one > one.txt; git add one.txt; git commit -q -m one' },
    { text: 'One is there.' },
    { shell: 'echo two > two.txt; echo changed > one.txt; git add two.txt' },
    { text: 'Two is there.' },
    { text: 'Now without two.' },
    { text: 'And again.' },
    { text: 'Once more.' },
    { text: 'Twice more.' },
  ],
};

for (const name of talkers) {
  describe.skipIf(!isThere(name))(`going back with ${name}`, SLOW, () => {
    const place = placeOfSuite();
    let model: ScriptedModel;
    let life: Life;
    let client: Client;
    let repository: string;

    beforeAll(async () => {
      model = await modelOfSuite(scriptsOf(cases));
      place.configure(configFor(model, { harness: name }));
      await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
      life = await place.up();
      client = place.client(life);
      repository = makeRepository(place, 'gone-back', {});
      await client.call('projectAdd', { body: { source: repository } });
    });

    const say = async (id: string, text: string): Promise<void> => {
      const { id: turn } = await client.call('turnAdd', { params: { id }, body: { text } });
      expect((await turnOver(client, id, turn)).outcome).toBe('success');
    };

    const begin = async (): Promise<SessionView> => {
      const session = await client.call('sessionCreate', { body: { project: repository, mode: 'all' } });
      await sessionIn(client, session.id, ['idle']);
      return session;
    };

    const treeOf = async ({ environment }: SessionView): Promise<string> =>
      (await client.call('environmentShow', { params: { id: environment.id } })).workdir ?? '';

    /** Which turns are undone, by their numbers. */
    const undone = async (id: string): Promise<Record<string, boolean>> => {
      const { items } = await client.call('turnList', { params: { id } });
      return Object.fromEntries(items.map((turn) => [String(turn.turn), turn.undone]));
    };

    const lastCall = (): string => callsWith(model, '[back]').at(-1)!.body;

    /** Another one parts from before the last turn, with files of its own, and both go on by themselves. */
    const goesOnTwice = async ({ id }: SessionView, tree: string): Promise<void> => {
      const forked = await place.cli(['session', 'fork', id, '--at', '4', '--title', 'Another way', '--json']);
      expect(forked.stderr).toBe('');
      const { session: fork } = forked.envelope().result as { readonly session: SessionView };
      expect(fork).toMatchObject({ forkedFrom: { session: id, turn: 4 }, title: 'Another way' });
      await sessionIn(client, fork.id, ['idle']);
      const copy = await treeOf(fork);
      expect(readFileSync(join(copy, 'one.txt'), 'utf8')).toBe('changed\n');
      expect(readFileSync(join(copy, 'mine.txt'), 'utf8')).toBe('written by hand\n');
      const status = await place.cli(['env', 'exec', fork.environment.name, '--', 'git', 'status', '--porcelain', '--branch']);
      expect(status.stdout).toContain(`## orrery/${fork.environment.id}`);
      expect(status.stdout).toMatch(/ M one\.txt\nA {2}two\.txt\n\?\? mine\.txt/);
      writeFileSync(join(copy, 'mine.txt'), 'by the fork\n');
      expect(readFileSync(join(tree, 'mine.txt'), 'utf8')).toBe('written by hand\n');
      await say(fork.id, 'Another way. MARKER-fork');
      expect(lastCall()).toContain('MARKER-two');
      expect(lastCall()).toContain('Two is there.');
      expect(lastCall()).not.toContain('MARKER-three');
      expect(lastCall()).not.toContain('MARKER-four');
      await say(id, 'On as before. MARKER-five');
      expect(lastCall()).toContain('MARKER-four');
      expect(lastCall()).not.toContain('MARKER-fork');
      const words = (await logOf(client, fork.id)).flatMap(({ body }) => (body.kind === 'user' ? [body.text] : []));
      expect(words.map((text) => text.match(/MARKER-\w+/)?.[0])).toEqual(['MARKER-one', 'MARKER-two', 'MARKER-fork']);
    };

    it('takes files, commits, index and conversation back, and forward again', async () => {
      const session = await begin();
      const { id } = session;
      await say(id, 'Make one. [back] MARKER-one');
      await say(id, 'Make two. MARKER-two');
      const tree = await treeOf(session);
      writeFileSync(join(tree, 'mine.txt'), 'written by hand\n');
      const { items } = await client.call('sessionCheckpoints', { params: { id } });
      expect(items.map(({ kind, turn, conversation }) => [kind, turn, conversation])).toEqual([
        ['turn', 2, 'native'],
        ['turn', 1, 'native'],
      ]);
      const rewound = await client.call('sessionRewind', { params: { id }, body: { to: '2' } });
      expect([rewound.replaced, rewound.saved.length]).toEqual([false, 1]);
      expect([existsSync(join(tree, 'two.txt')), existsSync(join(tree, 'mine.txt'))]).toEqual([false, false]);
      expect(readFileSync(join(tree, 'one.txt'), 'utf8')).toBe('one\n');
      await say(id, 'Go on. MARKER-three');
      expect(lastCall()).toContain('MARKER-one');
      expect(lastCall()).toContain('One is there.');
      expect(lastCall()).not.toContain('MARKER-two');
      expect(lastCall()).not.toContain('Two is there.');
      expect(await undone(id)).toEqual({ 1: false, 2: true, 3: false });
      // Nothing of it is gone: what was there before the rewinding comes back, words and files.
      const again = await client.call('sessionRewind', { params: { id }, body: { to: rewound.before.id } });
      expect(again.replaced).toBe(false);
      expect(readFileSync(join(tree, 'one.txt'), 'utf8')).toBe('changed\n');
      expect(readFileSync(join(tree, 'mine.txt'), 'utf8')).toBe('written by hand\n');
      await say(id, 'And now? MARKER-four');
      expect(lastCall()).toContain('MARKER-two');
      expect(lastCall()).not.toContain('MARKER-three');
      const log = await logOf(client, id);
      expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1));
      expect(log.filter(({ body }) => body.kind === 'rewound')).toHaveLength(2);
      await goesOnTwice(session, tree);
    });

    it('begins anew before its first turn, and keeps what it is told to keep', async () => {
      const session = await begin();
      const { id } = session;
      const tree = await treeOf(session);
      await say(id, 'Make one. [back] MARKER-first');
      const files = await client.call('sessionRewind', { params: { id }, body: { to: '1', what: 'files' } });
      expect([files.session.state, existsSync(join(tree, 'one.txt'))]).toEqual(['dormant', false]);
      await say(id, 'Make two. MARKER-second');
      expect(lastCall()).toContain('MARKER-first');
      expect(existsSync(join(tree, 'two.txt'))).toBe(true);
      await client.call('sessionRewind', { params: { id }, body: { to: '1', what: 'conversation' } });
      expect(existsSync(join(tree, 'two.txt'))).toBe(true);
      await say(id, 'Who are you? [back] MARKER-third');
      expect(lastCall()).not.toContain('MARKER-first');
      expect(await codeOf(client.call('sessionRewind', { params: { id }, body: { to: '77' } }))).toBe('not_found');
    });
  });
}
