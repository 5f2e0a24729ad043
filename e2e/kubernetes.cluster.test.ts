/** Whole tasks in pods: a real node, a real cluster, commands with hooks, a node that dies in the middle. */
import { describe, expect, it } from 'vitest';
import { TEST_IMAGE, podsOf, testKubeconfig } from '../packages/node/test/kubernetes/cluster.ts';
import { freshInstance } from '../packages/node/test/kubernetes/provider.ts';
import { commandsOn, verdictOf } from './support/commands.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { placeOfTest } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { bodiesOf, eventsOf, printed, taskEnd, textOf, waitFor } from './support/wait.ts';

const TASK_MS = 240_000;

const instance = freshInstance();
const config = () => ({
  execution: {
    backend: 'kubernetes',
    options: { kubernetes: { kubeconfig: testKubeconfig(), instance, image: TEST_IMAGE, imagePullPolicy: 'Never' } },
  },
});
const noPods = (): Promise<true> => waitFor('no pod', async () => ((await podsOf(instance)).length === 0 ? true : null), 120_000);

describe('on kubernetes', { timeout: 400_000 }, () => {
  it('hooks and command run in one pod that knows nothing of this machine, and the work comes back', async (context) => {
    const place = placeOfTest(config(), context);
    const life = await place.up();
    const client = place.client(life);
    const repository = makeRepository(place, 'podded', {
      init: 'echo kept > "$HOME/of-init"',
      before: 'cat "$HOME/of-init" > before.txt',
      validation: 'test "$(cat before.txt)" = kept && test "$(cat rounds.txt | wc -l)" -ge 2',
      after: 'echo ended',
    });
    await client.call('projectAdd', { body: { source: repository } });
    const script = `echo round >> rounds.txt; printf '\\0\\377' > bytes; ln -sf bytes link; rm -f README.md
      for path in ${place.data} ${place.folder} ${repository}; do ls "$path" >/dev/null 2>&1 && echo "open: $path"; done
      id -u; git log --oneline | wc -l`;
    const { conduct } = commandsOn(place, () => client);
    const task = await conduct(script, { project: repository, maxRetries: 2 });
    const events = await eventsOf(client, task.id);
    expect(verdictOf(task)).toEqual(['accepted', null]);
    expect(bodiesOf(events, 'attempt.started').map(({ backend }) => backend)).toEqual(['kubernetes']);
    expect(textOf(events)).toMatch(/^(1000\n[1-9]\d*\n){2}$/);
    const { files } = await client.call('taskDiff', { params: { id: task.id } });
    expect(files.map(({ path, status }) => `${status} ${path}`).toSorted()).toEqual([
      'added before.txt',
      'added bytes',
      'added link',
      'added rounds.txt',
      'deleted README.md',
    ]);
    expect(await settledLeftovers(place, life.pid, 60_000)).toEqual(nothing);
    await noPods();
  });

  it('a node killed in the middle is started again, and the program has gone on and is not started twice', async (context) => {
    const place = placeOfTest(config(), context);
    const life = await place.up();
    const { send } = commandsOn(place, () => place.client(life));
    const id = await send('echo begun; echo x >> "$HOME/starts"; sleep 6; cat "$HOME/starts"; echo done');
    await printed(place.client(life), id, 'begun');
    await life.kill();
    expect(await podsOf(instance)).toHaveLength(1);
    const second = await place.up();
    const next = place.client(second);
    expect(verdictOf(await taskEnd(next, id, TASK_MS))).toEqual(['accepted', null]);
    expect(textOf(await eventsOf(next, id))).toBe('begun\nx\ndone\n');
    expect(await settledLeftovers(place, second.pid, 60_000)).toEqual(nothing);
    await noPods();
  });
});
