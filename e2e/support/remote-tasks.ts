// Whole tasks where programs run somewhere else: the same cases on each such backend.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandsOn, verdictOf } from './commands.ts';
import { nothing, settledLeftovers } from './leftovers.ts';
import { placeOfTest } from './place.ts';
import { makeRepository } from './repository.ts';
import { bodiesOf, eventsOf, printed, taskEnd, textOf, waitFor } from './wait.ts';

/** What is told of a backend. Everything is asked when a case runs: servers that tests start are there by then. */
export type RemoteSubject = {
  readonly backend: string;
  /** The configuration of a node that uses it. */
  readonly config: () => object;
  /** What there is of environments, and of their programs. */
  readonly there: () => Promise<readonly unknown[]>;
  /** A script that looks at who and where it is, and what it must say. */
  readonly look: readonly [script: string, said: string];
  /** A program of the shell that serves connections on port `$1` of loopback and answers each with the word `$2`. */
  readonly server: string;
};

const TASK_MS = 240_000;

/** Resolves when nothing of the backend is there any more. */
export const nothingThere = ({ backend, there }: Pick<RemoteSubject, 'backend' | 'there'>): Promise<true> =>
  waitFor(`nothing of ${backend} is there`, async () => ((await there()).length === 0 ? true : null), 120_000);

/** Runs the cases. */
export const describeRemoteTasks = (subject: RemoteSubject): void => {
  describe('a task', () => {
    it('has hooks and command in one place that knows nothing of this machine, and the work comes back', async (context) => {
      const place = placeOfTest(subject.config(), context);
      const life = await place.up();
      const client = place.client(life);
      const repository = makeRepository(place, 'elsewhere', {
        init: 'echo kept > "$HOME/of-init"',
        before: 'cat "$HOME/of-init" > before.txt',
        validation: 'test "$(cat before.txt)" = kept && test "$(cat rounds.txt | wc -l)" -ge 2',
        after: 'echo ended',
      });
      await client.call('projectAdd', { body: { source: repository } });
      const [look, said] = subject.look;
      const script = `echo round >> rounds.txt; printf '\\0\\377' > bytes; ln -sf bytes link; rm -f README.md
        for path in ${place.data} ${place.folder} ${repository} /root/.ssh; do ls "$path" >/dev/null 2>&1 && echo "open: $path"; done
        ${look}; git log --oneline | wc -l`;
      const { conduct } = commandsOn(place, () => client);
      const task = await conduct(script, { project: repository, maxRetries: 2 });
      const events = await eventsOf(client, task.id);
      expect(verdictOf(task)).toEqual(['accepted', null]);
      expect(bodiesOf(events, 'attempt.started').map(({ backend }) => backend)).toEqual([subject.backend]);
      expect(textOf(events)).toMatch(new RegExp(`^(${said}[1-9]\\d*\\n){2}$`));
      const { files } = await client.call('taskDiff', { params: { id: task.id } });
      expect(files.map(({ path, status }) => `${status} ${path}`).toSorted()).toEqual([
        'added before.txt',
        'added bytes',
        'added link',
        'added rounds.txt',
        'deleted README.md',
      ]);
      expect(await settledLeftovers(place, life.pid, 60_000)).toEqual(nothing);
      await nothingThere(subject);
    });

    it('finds what an earlier one noted for everybody, its project and its agent; changes and deletions come back', async (context) => {
      const place = placeOfTest({ ...subject.config(), memory: ['global', 'project', 'agent'] }, context);
      const client = place.client(await place.up());
      const { conduct, project } = commandsOn(place, () => client);
      const repository = await project('noted');
      const noted = (script: string) => conduct(`cd "$ORRERY_MEMORY"; ${script}`, { project: repository });
      const first = await noted('for of in global project agent; do echo one > $of/one; echo $of > $of/two; done');
      const second = await noted('cat */one; for of in global project agent; do rm $of/one; echo more >> $of/two; done');
      expect([verdictOf(first), verdictOf(second)]).toEqual([
        ['accepted', null],
        ['accepted', null],
      ]);
      expect(textOf(await eventsOf(client, second.id))).toBe('one\none\none\n');
      const memory = join(place.data, 'memory');
      const files = readdirSync(memory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const told = files.map(({ name, parentPath }) => `${name}: ${readFileSync(join(parentPath, name), 'utf8')}`);
      expect(told.toSorted()).toEqual(['agent', 'global', 'project'].map((of) => `two: ${of}\nmore\n`));
      await nothingThere(subject);
    });

    it('whose node is killed in the middle goes on, is found by the next node and not started twice', async (context) => {
      const place = placeOfTest(subject.config(), context);
      const life = await place.up();
      const { send } = commandsOn(place, () => place.client(life));
      const id = await send('echo begun; echo x >> "$HOME/starts"; sleep 6; cat "$HOME/starts"; echo done');
      await printed(place.client(life), id, 'begun');
      await life.kill();
      expect(await subject.there()).not.toEqual([]);
      const second = await place.up();
      const next = place.client(second);
      expect(verdictOf(await taskEnd(next, id, TASK_MS))).toEqual(['accepted', null]);
      expect(textOf(await eventsOf(next, id))).toBe('begun\nx\ndone\n');
      expect(await settledLeftovers(place, second.pid, 60_000)).toEqual(nothing);
      await nothingThere(subject);
    });
  });
};
