/** Whole tasks behind the walls of bwrap: a command with hooks, a node that dies in the middle, a real agent program. */
import { commitAll, writeFiles } from '@orrery/testkit';
import { describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf } from './support/agents.ts';
import { hasBubblewrap } from './support/bubblewrap.ts';
import { commandsOn, verdictOf } from './support/commands.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import { placeOfTest } from './support/place.ts';
import { makeRepository } from './support/repository.ts';
import { bodiesOf, eventsOf, printed, taskEnd, textOf } from './support/wait.ts';

const onBubblewrap = { execution: { backend: 'bubblewrap' } };

describe.skipIf(!hasBubblewrap())('on bubblewrap', { timeout: 240_000 }, () => {
  it('hooks and command run in one environment, which holds what was granted and nothing else', async (context) => {
    const place = placeOfTest(onBubblewrap, context);
    const life = await place.up();
    const client = place.client(life);
    const repository = makeRepository(place, 'walled', {
      init: 'echo kept > "$HOME/of-init"',
      before: 'cat "$HOME/of-init" > before.txt',
      validation: 'test "$(cat before.txt)" = kept && test -f made.txt',
    });
    await client.call('projectAdd', { body: { source: repository } });
    const script = `echo made > made.txt
      for path in ${place.data} ${place.folder}/home ${repository} /etc/resolv.conf /etc/shadow /root; do cat "$path" >/dev/null 2>&1 || ls "$path" >/dev/null 2>&1 && echo "open: $path"; done
      mkdir .orrery/made 2>/dev/null || echo closed
      ls -A .git/hooks
      ls /proc | grep -c '^[0-9]'`;
    const { conduct } = commandsOn(place, () => client);
    const task = await conduct(script, { project: repository });
    const events = await eventsOf(client, task.id);
    expect(verdictOf(task)).toEqual(['accepted', null]);
    expect(bodiesOf(events, 'attempt.started').map(({ backend }) => backend)).toEqual(['bubblewrap']);
    expect(textOf(events)).toMatch(/^closed\n[1-5]\n$/);
    expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
  });

  it('a node killed in the middle is started again, and the program has gone on and is not started twice', async (context) => {
    const place = placeOfTest(onBubblewrap, context);
    const life = await place.up();
    const { send } = commandsOn(place, () => place.client(life));
    const id = await send('echo begun; echo x >> "$HOME/starts"; sleep 6; cat "$HOME/starts"; echo done');
    await printed(place.client(life), id, 'begun');
    await life.kill();
    const second = await place.up();
    const next = place.client(second);
    expect(verdictOf(await taskEnd(next, id))).toEqual(['accepted', null]);
    expect(textOf(await eventsOf(next, id))).toBe('begun\nx\ndone\n');
    expect(await settledLeftovers(place, second.pid)).toEqual(nothing);
  });

  it.skipIf(!isThere('pi'))('a real agent program works with its tools and is sent back once', async (context) => {
    const steps = [
      { write: { path: 'answer.txt', content: 'wrong\n', fresh: true } },
      { text: 'That should do.' },
      { shell: 'echo right > answer.txt' },
      { text: 'Now it is right.' },
    ];
    const model = await modelOfSuite(scriptsOf({ back: steps }));
    const place = placeOfTest(configFor(model, { harness: 'pi', ...onBubblewrap }), context);
    const life = await place.up();
    const client = place.client(life);
    const repository = makeRepository(place, 'agent', { validation: 'test "$(cat answer.txt)" = right' });
    writeFiles(repository, { 'README.md': 'A repository.\n' });
    commitAll(repository, 'a file');
    await client.call('projectAdd', { body: { source: repository } });
    const { id } = await client.call('taskAdd', { body: { prompt: 'Do it. [back]', project: repository } });
    const task = await taskEnd(client, id, 200_000);
    expect([task.verdict, task.reason, task.result?.filesChanged]).toEqual(['accepted', null, 1]);
    expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
  });
});
