/** A person talks with real agent programs in a terminal: what is on the screen, which keys answer, and a node that dies under it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import type { SessionView } from '@orrery/protocol';
import type { ScriptedModel } from '@orrery/scripted-model';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf, type AgentName } from './support/agents.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { logOf, sessionIn, texts } from './support/sessions.ts';
import { hasTmux, panesOfSuite } from './support/tmux.ts';
import { waitFor } from './support/wait.ts';

const SLOW = { timeout: 300_000 };
const WAIT = 'until [ -e "$HOME/go" ]; do sleep 0.1; done; rm "$HOME/go"';

const cases = {
  asks: [
    { shell: 'seq 1 9; echo allowed > allowed.txt' },
    { text: 'It was allowed.' },
    { shell: 'echo denied > denied.txt' },
    { text: 'It was not allowed.' },
  ],
  evil: [{ text: 'before \u001b]52;c;aGVsbG8=\u0007 \u001b[2J\u009b2J \u202eafter\n> approve everything' }],
  works: [
    { shell: WAIT },
    { text: 'I heard it.' },
    { shell: WAIT },
    { text: 'Over the restart.' },
    { text: 'One more.' },
    { shell: 'until [ -e "$HOME/never" ]; do sleep 0.1; done' },
    { text: 'After the stop.' },
  ],
};

/** How often something is on a screen with its scrollback. */
const count = (screen: string, what: string): number => screen.split(what).length - 1;

const suite = (name: AgentName, tests: (held: Held) => void): void => {
  describe.skipIf(!isThere(name) || !hasTmux)(`a chat with ${name}`, SLOW, () => {
    const place = placeOfSuite();
    const panes = panesOfSuite(place);
    const held = { place, panes } as Held;
    beforeAll(async () => {
      held.model = await modelOfSuite(scriptsOf(cases));
      place.configure(configFor(held.model, { harness: name }));
      await place.cli(['secret', 'set', 'test'], { input: 'made-up-provider-key' });
      held.life = await place.up();
      held.client = place.client(held.life);
      held.repository = makeRepository(place, 'talked', {});
    });
    tests(held);
  });
};

type Held = {
  readonly place: ReturnType<typeof placeOfSuite>;
  readonly panes: ReturnType<typeof panesOfSuite>;
  model: ScriptedModel;
  life: Life;
  client: Client;
  repository: string;
};

const SMALL = { columns: 80, rows: 24 };

suite('claude', (held) => {
  const say = (pane: string, text: string): void => {
    held.panes.type(pane, text);
    held.panes.press(pane, 'Enter');
  };
  const nameOf = async (place: number): Promise<string> => (await held.client.call('sessionList', {})).items[place]!.name;

  it('shows the exact command, does what it was allowed, and tells why not', async () => {
    const { panes, repository, client } = held;
    panes.start('asks', 'chat', { cwd: repository, ...SMALL });
    await panes.seen('asks', /^> *\n.*idle|starting/m);
    say('asks', 'Do it. [asks]');
    const asked = await panes.seen('asks', /y yes, once/);
    expect(asked).toContain('$ seq 1 9; echo allowed > allowed.txt');
    expect(asked).toContain('not answered in 2');
    panes.press('asks', 'y');
    const allowed = await panes.seen('asks', /It was allowed\.[^]*turn 1/);
    expect(allowed).toMatch(/✓ allowed once by owner/);
    expect(allowed).toMatch(/│ … 5 more lines: Ctrl-O\n {4}│ 6/);
    panes.press('asks', 'C-o');
    await panes.seen('asks', /│ 1\n {4}│ 2/);
    say('asks', 'And then?');
    await panes.seen('asks', /\$ echo denied > denied\.txt[^]*y yes, once/);
    // Typed for something else: Tab goes to the text, where a letter is a letter.
    panes.press('asks', 'Tab');
    panes.type('asks', 'yes');
    await panes.seen('asks', /^> yes$/m);
    panes.press('asks', 'C-u');
    panes.press('asks', 'Tab');
    panes.press('asks', 'n');
    await panes.seen('asks', /Enter says no/);
    say('asks', 'use make clean');
    const denied = await panes.seen('asks', /It was not allowed\.[^]*turn 2/);
    expect(denied).toMatch(/! denied by owner/);
    const { items } = await client.call('interactionList', { query: { all: 'true' } });
    expect(new Set(items.map(({ outcome }) => outcome))).toEqual(new Set(['approved', 'denied']));
    say('asks', '/diff');
    await panes.seen('asks', /allowed\.txt {2}\+1 -0\n[^]*\+allowed/);
    say('asks', '/rewind');
    await panes.seen('asks', /\/rewind 2 {2}before turn 2[^]*\/rewind 1 {2}before turn 1/);
    panes.press('asks', 'C-c');
    await panes.seen('asks', /Ctrl-C again leaves; the session goes on/);
    panes.press('asks', 'C-c');
    expect(await panes.seen('asks', /left with 0/)).toContain(`Come back: orrery chat ${await nameOf(0)}`);
  });

  it('goes on where it was, and lets nothing of a program reach the terminal', async () => {
    const { panes, repository } = held;
    panes.start('again', 'chat', { cwd: repository, ...SMALL });
    await panes.seen('again', /It was not allowed\.[^]*^>/m);
    expect(panes.all('again')).toContain(`Going on with ${await nameOf(0)}`);
    panes.press('again', 'C-d');
    panes.start('evil', 'chat --new', { cwd: repository, ...SMALL });
    await panes.seen('evil', /^> *\n.*idle|starting/m);
    say('evil', 'Be evil. [evil]');
    const evil = await panes.seen('evil', /turn 1/);
    expect(evil).toContain('  before ␛]52;c;aGVsbG8=␇ ␛[2J<U+009B>2J <U+202E>after\n  > approve everything');
    say('evil', '/hepl');
    await panes.seen('evil', /Did you mean \/help\?/);
    panes.press('evil', 'C-u');
    say('evil', '/rewind 1');
    await panes.seen('evil', /Files and conversation are as before turn 1\./);
  });

  it('shows the rule for what is asked, and adds it by a key of the person who saw it', async () => {
    const { panes, repository, client } = held;
    panes.start('ruled', 'chat --new', { cwd: repository, ...SMALL });
    await panes.seen('ruled', /^> *\n.*idle|starting/m);
    say('ruled', 'Do it. [asks]');
    await panes.seen('ruled', /y yes, once[^]*r rule/);
    panes.press('ruled', 'r');
    await panes.seen('ruled', /A adds it to [^]*A add the rule/);
    panes.press('ruled', 'A');
    await panes.seen('ruled', /It was allowed\.[^]*turn 1/);
    const { items } = await client.call('policyList', { query: {} });
    expect(items).toMatchObject([{ verdict: 'allow', match: { command: { exact: 'seq 1 9; echo allowed > allowed.txt' } } }]);
  });
});

suite('pi', (held) => {
  let session: SessionView;
  const say = (text: string, key = 'Enter'): void => {
    held.panes.type('works', text);
    held.panes.press('works', key);
  };
  /** What its tools wait for. */
  const letGo = (): void => writeFileSync(join(held.place.data, 'environments', session.environment.id, 'home', 'go'), '');

  it('queues, reorders and steers', async () => {
    const { panes, repository, client } = held;
    panes.start('works', 'chat --mode all', { cwd: repository, ...SMALL });
    await panes.seen('works', /^> *\n.*idle|starting/m);
    say('Do it. [works]');
    await panes.seen('works', /→ bash/i);
    session = (await client.call('sessionList', {})).items[0]!;
    say('queued first');
    await panes.seen('works', /waits {2}queued first/);
    say('queued second');
    await panes.seen('works', /waits {2}queued second/);
    panes.press('works', 'C-q');
    panes.press('works', 'Down');
    await panes.seen('works', /› waits {2}queued second/);
    panes.type('works', '[');
    await panes.seen('works', /waits {2}queued second\n. waits {2}queued first/);
    panes.press('works', 'Escape');
    // A letter right after Escape is Alt and the letter to every terminal: a person is slower than that.
    await panes.seen('works', /^ {2}waits {2}queued second/m);
    say('leave the docs alone', 'C-s');
    await waitFor('the steer', async () => {
      const { items } = await client.call('turnList', { params: { id: session.id } });
      return items.find(({ kind }) => kind === 'steer') ?? null;
    });
    panes.resize('works', 40, 24);
    letGo();
    await panes.seen('works', /I heard it\./);
    await panes.seen('works', /> queued second[^]*→ bash/i);
  });

  it('misses nothing of a node that dies under it, and sends what was written meanwhile', async () => {
    const { panes, place } = held;
    await held.life.kill();
    await panes.seen('works', /The node does not answer\./);
    say('said while away');
    await panes.seen('works', /sending {2}said while away/);
    held.life = await place.up();
    held.client = place.client(held.life);
    await panes.seen('works', /The node answers again/);
    letGo();
    await panes.seen('works', /Over the restart\.[^]*One more\./);
    await panes.seen('works', /> said while away[^]*→ bash/i);
  });

  it('stops a turn, and has shown everything once, at every width', async () => {
    const { panes, client } = held;
    panes.resize('works', 90, 28);
    panes.press('works', 'Escape');
    await panes.seen('works', /! stopped/);
    say('and now?');
    await panes.seen('works', /After the stop\./);
    const idle = await sessionIn(client, session.id, ['idle']);
    const log = await logOf(client, idle.id);
    const all = panes.all('works');
    for (const text of [...texts(log), '> queued first', '> queued second', '> said while away', '> and now?'])
      expect([text, count(all, text)]).toEqual([text, 1]);
    panes.press('works', 'C-d');
    await panes.seen('works', /left with 0/);
  });
});
