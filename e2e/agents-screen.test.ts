/** The three real programs with their own full screens, seen by a person at a terminal. */
import type { Client } from '@orrery/client';
import type { Task } from '@orrery/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf, type AgentName } from './support/agents.ts';
import { placeOfSuite } from './support/place.ts';
import { bringSettings, BROUGHT_NOTHING } from './support/project-settings.ts';
import { makeRepository } from './support/repository.ts';
import { hasTmux, panesOfSuite } from './support/tmux.ts';
import { bodiesOf, eventsOf, taskEnd, waitFor } from './support/wait.ts';

const SLOW = { timeout: 900_000 };

/** How a person ends each of them. */
const ending: Readonly<Record<AgentName, string>> = { claude: '/exit', codex: '/quit', pi: '/quit' };

const steps = [
  { text: 'I write it.', write: { path: 'hello.txt', content: 'hello\n', fresh: true } },
  { text: 'It is written now.' },
  { text: 'Told once more.' },
];

describe.skipIf(!hasTmux).each(['claude', 'codex', 'pi'] as const)('%s', SLOW, (name) => {
  const place = placeOfSuite();
  const panes = panesOfSuite(place);
  let client: Client;
  let repository = '';
  beforeAll(async () => {
    if (!isThere(name)) return;
    const model = await modelOfSuite(scriptsOf({ tui: steps }));
    place.configure(configFor(model, { harness: name }));
    client = place.client(await place.up());
    repository = makeRepository(place, 'site', { validation: `test -f hello.txt && ${BROUGHT_NOTHING}` });
    bringSettings(repository);
  });
  const inState = (state: Task['state'], what: RegExp): Promise<Task> =>
    waitFor(
      `a task that is ${state}`,
      async () => {
        const [task] = (await client.call('taskList', { query: { limit: 1 } })).items;
        return task?.state === state && what.test(task.waitingFor ?? '') ? task : null;
      },
      150_000,
    );

  it.skipIf(!isThere(name))(
    'asks nothing at its first start but whether to do without what the repository brings, is left, found again, told more, and checked',
    async () => {
      panes.start('one', 'run --tui "write it [tui]"', { cwd: repository });
      // It opens what brings settings for it without them, and only by a person's word.
      if (name === 'codex') {
        await panes.seen('one', /Open restricted/);
        panes.press('one', 'Enter');
      }
      await panes.seen('one', /It is written now\./);
      const { id } = await inState('waiting', /^a person: the agent has finished its turn$/);
      panes.press('one', 'C-]');
      await panes.seen('one', /It goes on\.[^]*left with 0/);
      panes.start('two', `task attach ${id}`, { cwd: repository });
      await panes.seen('two', /It is written now\./);
      panes.type('two', 'and once more');
      await panes.seen('two', /and once more/);
      panes.press('two', 'Enter');
      await panes.seen('two', /Told once more\./);
      await inState('waiting', /finished its turn/);
      panes.type('two', ending[name]);
      await panes.seen('two', new RegExp(`^[^a-z]*${ending[name]}`, 'm'));
      panes.press('two', 'Enter');
      await panes.seen('two', /left with/);
      expect(panes.screen('two')).toMatch(/accepted after[^]*hello\.txt[^]*left with 0/);
      const task = await taskEnd(client, id);
      expect([task.verdict, task.result?.filesChanged, task.result?.validation?.passed]).toEqual(['accepted', 1, true]);
      const states = bodiesOf(await eventsOf(client, id), 'task.state').map(({ state }) => state);
      expect([states.slice(0, 3), states.at(-1)]).toEqual([['queued', 'running', 'waiting'], 'accepted']);
    },
  );
});
