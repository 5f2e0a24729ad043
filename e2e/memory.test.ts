/** Memory: what tasks note for later ones, on a real node, on each backend of this machine. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@orrery/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBubblewrap } from './support/bubblewrap.ts';
import { codeOf, commandsOn } from './support/commands.ts';
import { settledEnvironment } from './support/environments.ts';
import { placeOfSuite } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { eventsOf, printed, taskEnd, textOf } from './support/wait.ts';

const place = placeOfSuite({ memory: ['global', 'project'], queue: { parallel: 4, perProject: 4 } });
let client: Client;

beforeAll(async () => {
  client = place.client(await place.up());
});

const { send, conduct, project } = commandsOn(place, () => client);
const master = (...path: string[]): string => join(place.data, 'memory', ...path);
const withBubblewrap = hasBubblewrap();

const known = async (name: string): Promise<{ repository: string; id: string }> => {
  const repository = await project(name);
  return {
    repository,
    id: (await client.call('projectList', { query: {} })).items.find(({ source }) => source === repository)!.id,
  };
};

describe.each(['sandbox', 'bubblewrap', 'local'])('on %s', (backend) => {
  it.skipIf(backend === 'bubblewrap' && !withBubblewrap)(
    'a task finds what an earlier one noted, changes and deletes it, and hands nothing on but plain files',
    async () => {
      const { repository, id } = await known(`memory-${backend}`);
      const inProject = (script: string) => conduct(script, { backend, project: repository });
      await inProject('echo one > "$ORRERY_MEMORY/project/one"; echo two > "$ORRERY_MEMORY/project/two"');
      expect(readdirSync(master('projects', id)).toSorted()).toEqual(['one', 'two']);
      const second = await inProject('cd "$ORRERY_MEMORY/project"; cat one; rm one; echo more >> two; ln -s /etc/passwd link');
      expect(textOf(await eventsOf(client, second.id))).toBe('one\n');
      expect([readdirSync(master('projects', id)), readFileSync(master('projects', id, 'two'), 'utf8')]).toEqual([
        ['two'],
        'two\nmore\n',
      ]);
      const stages = (await client.call('taskAttempts', { params: { id: second.id } })).items[0]?.stages ?? [];
      expect(stages.find(({ name }) => name === 'settle')?.note).toContain('memory project: link was left out');
      const readOnly = await conduct('cat "$ORRERY_MEMORY/project/two"; echo no > "$ORRERY_MEMORY/project/no"', {
        backend: 'sandbox',
        project: repository,
        readOnly: true,
      });
      expect(textOf(await eventsOf(client, readOnly.id))).toContain('more');
      expect(existsSync(master('projects', id, 'no'))).toBe(false);
    },
  );
});

describe('memories', () => {
  it('of two tasks at once keep both versions of what both changed', async () => {
    const { repository, id } = await known('both');
    mkdirSync(master('projects', id), { recursive: true });
    writeFileSync(master('projects', id, 'note'), 'before\n');
    const script = (word: string) =>
      `echo begun; until [ -e "$HOME/go" ]; do sleep 0.1; done; echo ${word} > "$ORRERY_MEMORY/project/note"`;
    const ids = await Promise.all(['left', 'right'].map((word) => send(script(word), { project: repository })));
    await Promise.all(ids.map((one) => printed(client, one, 'begun')));
    for (const one of ids) {
      const attempt = (await client.call('taskAttempts', { params: { id: one } })).items[0];
      writeFileSync(join(place.data, 'environments', attempt?.environmentId ?? '', 'home', 'go'), '');
    }
    for (const one of ids) await taskEnd(client, one);
    const texts = readdirSync(master('projects', id)).map((name) => readFileSync(master('projects', id, name), 'utf8'));
    expect(texts.toSorted()).toEqual(['left\n', 'right\n']);
  });

  it('of everybody reach other projects; those of a project do not', async () => {
    const [{ repository: one }, { repository: two }] = [await known('first'), await known('second')];
    await conduct('echo all > "$ORRERY_MEMORY/global/all"; echo mine > "$ORRERY_MEMORY/project/mine"', { project: one });
    const task = await conduct('find "$ORRERY_MEMORY" -type f | sed "s,$ORRERY_MEMORY/,,"', { project: two });
    expect(textOf(await eventsOf(client, task.id))).toBe('global/all\n');
  });

  it('are those that the operator gives, and fewer when project or request say so', async () => {
    const { repository } = await known('fewer');
    expect(await codeOf(send('true', { project: repository, memory: ['agent'] }))).toBe('widening_refused');
    const none = await conduct('echo "${ORRERY_MEMORY-none}"', { project: repository, memory: [] });
    expect(textOf(await eventsOf(client, none.id))).toBe('none\n');
  });

  it('are carried into an environment of its own when it starts, and merged when it stops', async () => {
    const repository = makeRepository(place, 'kept', { init: 'echo kept > "$ORRERY_MEMORY/project/from-set-up"' });
    const { id: projectId } = await client.call('projectAdd', { body: { source: repository } });
    const { id } = await client.call('environmentCreate', { body: { project: repository, name: 'kept' } });
    expect((await settledEnvironment(client, id)).state).toBe('ready');
    await conduct('echo task > "$ORRERY_MEMORY/project/from-task"', { environment: 'kept' });
    await client.call('environmentStop', { params: { id } });
    await settledEnvironment(client, id);
    expect(readdirSync(master('projects', projectId)).toSorted()).toEqual(['from-set-up', 'from-task']);
    await client.call('environmentDelete', { params: { id }, query: { salvage: 'true' }, timeoutMs: 60_000 });
  });
});
