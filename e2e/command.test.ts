/** Tasks without a model, from the command line and the API to the verdict, on a real node and in the real sandbox. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Task, TaskCreate } from '@orrery/protocol';
import { gitIn } from '@orrery/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '@orrery/client';
import type { CliAnswer } from './support/cli.ts';
import { codeOf, commandsOn, sh, verdictOf } from './support/commands.ts';
import { nothing, settledLeftovers } from './support/leftovers.ts';
import type { Life } from './support/life.ts';
import { placeOfSuite, placeOfTest } from './support/place.ts';
import { processesOf } from './support/process-tree.ts';
import { makeRepository } from './support/repository.ts';
import { bodiesOf, eventsOf, pause, printed, taskEnd, textOf, waitFor } from './support/wait.ts';

const place = placeOfSuite();
let life: Life;
let client: Client;
let canary: Server;
let canaryPort: number;
let forbiddenPort: number;
const asked: string[] = [];

beforeAll(async () => {
  canary = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    response.end('the canary sings\n');
  });
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  canaryPort = (canary.address() as AddressInfo).port;
  forbiddenPort = canaryPort === 9 ? 10 : 9;
  place.configure({ queue: { parallel: 8, perProject: 8 }, egress: { allow: [`127.0.0.1:${canaryPort}`] } });
  life = await place.up();
  client = place.client(life);
});
afterAll(() => void canary.close());

const { send, conduct, project, run } = commandsOn(place, () => client);

describe.concurrent('a verdict', () => {
  it('accepted: exit 0, the diff, the tree brought up to date', async () => {
    const repository = makeRepository(place, 'accepted', { validation: 'test -f made.txt' });
    const answer = await run(repository, 'echo made > made.txt; mkdir -p deep/er; echo x > "deep/er/with space"');
    const { id } = (answer.envelope().result as { task: Task }).task;
    expect({
      code: answer.code,
      ok: answer.envelope().ok,
      action: answer.envelope().action,
      files: answer.envelope().result?.['files'],
    }).toEqual({
      code: 0,
      ok: true,
      action: 'run',
      files: ['deep/er/with space', 'made.txt'].map((path) => ({
        path,
        oldPath: null,
        status: 'added',
        insertions: 1,
        deletions: 0,
      })),
    });
    expect(existsSync(join(repository, 'made.txt'))).toBe(false);
    const diff = await place.cli(['task', 'diff', id]);
    expect([diff.code, diff.stdout]).toEqual([0, expect.stringContaining('+++ b/made.txt\n@@ -0,0 +1 @@\n+made\n')]);
    const applied = await place.cli(['task', 'apply', id, '--json']);
    expect([
      applied.code,
      applied.envelope().ok,
      readFileSync(join(repository, 'made.txt'), 'utf8'),
      gitIn(repository, 'status', '--porcelain'),
    ]).toEqual([0, true, 'made\n', '']);
  });

  it('rejected: exit 9, after every retry that was allowed', async () => {
    const repository = makeRepository(place, 'rejected', { validation: 'echo "never good enough"; exit 4' });
    const answer = await run(repository, 'echo "$ORRERY_ROUND" >> rounds.txt', '--max-retries', '2');
    const { error } = answer.envelope();
    expect({ code: answer.code, ok: answer.envelope().ok, error: [error?.code, error?.exitCode] }).toEqual({
      code: 9,
      ok: false,
      error: ['rejected', 9],
    });
    const { items } = await client.call('taskList', { query: { project: repository } });
    expect(items[0]).toMatchObject({
      verdict: 'rejected',
      cause: null,
      attempts: 1,
      result: {
        validation: { passed: false, exitCode: 4, timedOut: false, limit: null, output: 'never good enough\n' },
        filesChanged: 1,
        insertions: 3,
      },
    });
  });

  it.for(['init', 'before', 'after'] as const)('failed by %s.sh: exit 1, the hook is named', async (hook) => {
    const repository = makeRepository(place, `hook-${hook}`, { [hook]: 'echo "cannot go on" >&2; exit 7' });
    const answer = await run(repository, 'echo x > x.txt');
    expect([answer.code, answer.envelope().error?.code]).toEqual([1, 'hook_failed']);
    const { items } = await client.call('taskList', { query: { project: repository } });
    expect([items[0]?.verdict, items[0]?.cause, items[0]?.reason]).toEqual([
      'failed',
      `hook:${hook}`,
      expect.stringContaining('exit 7'),
    ]);
  });

  it('failed by the command itself: cause agent, its exit code in the reason', async () => {
    const task = await conduct('echo trying; exit 3');
    expect([...verdictOf(task), task.reason]).toEqual(['failed', 'agent', expect.stringContaining('exit code 3')]);
  });

  it('a command that is not there is a failure that says so', async () => {
    const { id } = await client.call('taskAdd', { body: { prompt: 'x', harness: 'command', command: ['/nonexistent/program'] } });
    const task = await taskEnd(client, id);
    expect([...verdictOf(task), task.reason]).toEqual(['failed', 'agent', expect.stringContaining('there is no such program')]);
  });

  it('the retry prompt reaches the second turn with what the script said', async () => {
    const repository = await project('retry-prompt', {
      validation: 'echo "MARKER-why of round $ORRERY_ROUND"; test -f second.txt',
    });
    const task = await conduct('prompt=$(cat); echo "told: $prompt"; case $prompt in *MARKER-why*) touch second.txt;; esac', {
      project: repository,
    });
    const events = await eventsOf(client, task.id);
    expect(task.verdict).toBe('accepted');
    expect(textOf(events, 1)).toBe('told: a prompt\n');
    expect(textOf(events, 2)).toContain('MARKER-why of round 1');
    expect(bodiesOf(events, 'user')).toHaveLength(2);
  });

  it('hooks are those of the base commit: what the agent makes of them counts only after it was applied', async () => {
    const repository = await project('hooks-of-base', { validation: 'exit 5' }, 'validation: { maxRetries: 0 }');
    const task = await conduct(
      'printf "#!/bin/sh\\nexit 0\\n" > .orrery/hooks/validation.sh || echo denied; mv .orrery .gone || echo denied',
      { project: repository },
    );
    expect([task.verdict, task.result?.validation?.exitCode]).toEqual(['rejected', 5]);
  });

  it('a scratch task without a project leaves nothing to apply', async () => {
    const task = await conduct('pwd > where.txt; cat where.txt; ls -A');
    expect([task.verdict, task.project, task.result?.filesChanged]).toEqual(['accepted', null, 0]);
    expect(await codeOf(client.call('taskDiff', { params: { id: task.id } }))).not.toBe('no failure');
  });

  it('a read-only task may change nothing', async () => {
    const repository = await project('read-only');
    const task = await conduct('cat README.md; echo changed > README.md || echo denied; echo new > new.txt || echo denied', {
      project: repository,
      readOnly: true,
    });
    expect([task.result?.filesChanged, textOf(await eventsOf(client, task.id))]).toEqual([0, '# plain\ndenied\ndenied\n']);
  });
});

describe.concurrent('a cancel', () => {
  it('reaches every process: those that ignore it, left their session, or cleared their environment', async () => {
    const tag = '87651.5';
    const id = await send(
      `trap '' TERM HUP INT
(setsid sh -c "trap '' TERM; sleep ${tag} & sleep ${tag}" &)
(env -i setsid sleep ${tag} &)
(sh -c '(setsid nohup sleep ${tag} >/dev/null 2>&1 &)' &)
echo begun; while :; do sleep ${tag}; done`,
    );
    await printed(client, id, 'begun');
    await waitFor('the tree', () =>
      processesOf(tag).filter(({ command }) => command.startsWith('sleep')).length >= 5 ? true : null,
    );
    const answer = await place.cli(['task', 'cancel', id, '--json']);
    expect([answer.code, answer.envelope().ok]).toEqual([0, true]);
    const task = await taskEnd(client, id);
    expect([...verdictOf(task), task.reason]).toEqual(['cancelled', null, 'Cancelled on request.']);
    expect(processesOf(tag)).toEqual([]);
  });

  it('of a task that ended is refused, of one that was cancelled changes nothing', async () => {
    const done = await conduct('true');
    expect(await codeOf(client.call('taskCancel', { params: { id: done.id }, body: {} }))).toBe('conflict');
    const id = await send('echo begun; sleep 600');
    await printed(client, id, 'begun');
    await client.call('taskCancel', { params: { id }, body: {} });
    await taskEnd(client, id);
    expect((await client.call('taskCancel', { params: { id }, body: {} })).state).toBe('cancelled');
  });

  it('in a hook ends the hook', async () => {
    const repository = await project('cancel-hook', { before: 'echo hook begins; sleep 600' });
    const id = await send('echo never', { project: repository });
    await waitFor('the hook', async () => (bodiesOf(await eventsOf(client, id), 'stage.output').length > 0 ? true : null));
    await client.call('taskCancel', { params: { id }, body: {} });
    expect(verdictOf(await taskEnd(client, id))).toEqual(['cancelled', null]);
  });

  it('work that was there when it came is kept and can be looked at', async () => {
    const repository = await project('cancel-work');
    const id = await send('echo half > half.txt; echo begun; sleep 600', { project: repository });
    await printed(client, id, 'begun');
    await client.call('taskCancel', { params: { id }, body: {} });
    const task = await taskEnd(client, id);
    expect([task.verdict, task.result?.filesChanged]).toEqual(['cancelled', 1]);
    expect((await client.call('taskDiff', { params: { id } })).patch).toContain('+half');
  });
});

describe.concurrent('a person who stops watching', () => {
  const watching = (script: string, tag: string): Promise<CliAnswer> =>
    place.cli(['run', '--command', 'watch', '--request-id', tag, '--', ...sh(script)], {
      began: (signal) => void untilBegun(tag).then(() => signal('SIGINT')),
    });
  const untilBegun = (tag: string): Promise<true> =>
    waitFor('it begins', async () => {
      const { items } = await client.call('taskList', { query: { limit: 200 } });
      const task = items.find(({ requestId }) => requestId === tag);
      return task !== undefined && textOf(await eventsOf(client, task.id)).includes('begun') ? true : null;
    });

  it('ends with 130, is told how to come back, and the work goes on', async () => {
    const answer = await watching('echo begun; sleep 4; echo over', 'watch-once');
    const { items } = await client.call('taskList', { query: { limit: 200 } });
    const task = items.find(({ requestId }) => requestId === 'watch-once')!;
    expect([
      answer.code,
      answer.stderr.includes(`orrery task wait ${task.id}`) || answer.stderr.includes(`orrery task log ${task.id}`),
    ]).toEqual([130, true]);
    const waited = await place.cli(['task', 'wait', task.id, '--json']);
    expect([waited.code, (waited.envelope().result as { task: Task }).task.verdict]).toEqual([0, 'accepted']);
  });
});

describe.concurrent('a result is applied', () => {
  it('never onto a dirty tree: exit 8, everything as it was; the branch is offered and made', async () => {
    const repository = makeRepository(place, 'dirty');
    const answer = await run(repository, 'echo changed > README.md; echo new > new.txt');
    const { id } = (answer.envelope().result as { task: Task }).task;
    writeFileSync(join(repository, 'src/main.txt'), 'the work of a person\n');
    const before = gitIn(repository, 'status', '--porcelain', '--branch');
    const refused = await place.cli(['task', 'apply', id, '--json']);
    expect([refused.code, refused.envelope().error?.code]).toEqual([8, 'dirty_tree']);
    const branch = await place.cli(['task', 'apply', id, '--mode', 'branch', '--json']);
    expect([
      branch.code,
      gitIn(repository, 'show', `orrery/${id}:new.txt`),
      gitIn(repository, 'status', '--porcelain', '--branch'),
      readFileSync(join(repository, 'src/main.txt'), 'utf8'),
    ]).toEqual([0, 'new', before, 'the work of a person\n']);
  });

  it('merged when the branch moved on, refused when both changed the same line', async () => {
    const repository = await project('moved-on');
    const [clean, conflicting] = await Promise.all([
      conduct('echo new > new.txt', { project: repository }),
      conduct('echo theirs > src/main.txt', { project: repository }),
    ]);
    writeFileSync(join(repository, 'src/main.txt'), 'mine\n');
    gitIn(repository, 'commit', '-q', '-a', '-m', 'mine');
    const applied = await client.call('taskApply', { params: { id: clean.id }, body: {} });
    expect([
      applied.treeUpdated,
      gitIn(repository, 'status', '--porcelain'),
      readFileSync(join(repository, 'new.txt'), 'utf8'),
    ]).toEqual([true, '', 'new\n']);
    expect(await codeOf(client.call('taskApply', { params: { id: conflicting.id }, body: {} }))).toBe('merge_conflict');
    expect([gitIn(repository, 'status', '--porcelain'), readFileSync(join(repository, 'src/main.txt'), 'utf8')]).toEqual([
      '',
      'mine\n',
    ]);
  });
});

describe.concurrent('a request', () => {
  it('with the same id and intent is done once; with another intent it is refused: exit 8', async () => {
    const options = ['--request-id', 'once-1', '--detach'];
    const [first, second] = [await run(place.folder, 'echo once', ...options), await run(place.folder, 'echo once', ...options)];
    const ids = [first, second].map((answer) => (answer.envelope().result as { task: Task }).task);
    expect([first.code, second.code, ids[0]?.id === ids[1]?.id, ids[1]?.replayed]).toEqual([0, 0, true, true]);
    const other = await run(place.folder, 'echo twice', ...options);
    expect([other.code, other.envelope().error?.code]).toEqual([8, 'request_conflict']);
  });

  it('sent ten times at once makes one task', async () => {
    const body: TaskCreate = { prompt: 'x', harness: 'command', command: sh('echo once'), requestId: 'ten-at-once' };
    const tasks = await Promise.all(Array.from({ length: 10 }, () => client.call('taskAdd', { body })));
    expect([new Set(tasks.map(({ id }) => id)).size, tasks.filter(({ replayed }) => !replayed).length]).toEqual([1, 1]);
  });

  it.for([
    ['--harness', 'comand', 'unknown_name', 2],
    ['--backend', 'sandbx', 'unknown_name', 2],
    ['--project', 'no-such-project', 'not_found', 3],
    ['--priority', 'high', 'invalid_input', 2],
    ['--egress', 'example.org', 'widening_refused', 10],
  ] as const)('with %s %s is refused before anything begins: %s, exit %d', async ([option, value, code, exit]) => {
    const words = option === '--harness' ? ['x'] : ['--command', 'x', '--', 'true'];
    const answer = await place.cli(['run', '--json', option, value, ...words]);
    expect([answer.code, answer.envelope().error?.code, answer.envelope().error?.exitCode]).toEqual([exit, code, exit]);
  });

  it('for a base that is not there fails with the workspace as its cause', async () => {
    const repository = await project('no-base');
    const task = await conduct('true', { project: repository, base: 'no-such-branch' });
    expect([...verdictOf(task), task.reason]).toEqual(['failed', 'workspace', expect.stringContaining('no-such-branch')]);
  });

  it('shows three lines to a person: what failed, the rule, the fix', async () => {
    const answer = await place.cli(['task', 'show', 'tsk_nosuchtask']);
    expect([answer.code, answer.stdout, answer.stderr.trimEnd().split('\n').length]).toEqual([3, '', 3]);
  });
});

describe.concurrent('what goes in and out', () => {
  it('a prompt of four million characters arrives whole, from standard input too', async () => {
    const prompt = `${'word '.repeat(799_999)}over.`;
    const task = await conduct('wc -c; ', { prompt });
    expect(textOf(await eventsOf(client, task.id)).trim()).toBe('4000000');
    const answer = await place.cli(['run', '--json', '--command', '-', '--', 'sh', '-c', 'wc -c | tee /dev/stderr'], {
      input: prompt,
    });
    const sent = (answer.envelope().result as { task: Task }).task;
    expect([answer.code, textOf(await eventsOf(client, sent.id)).trim()]).toEqual([0, '4000000']);
    const over = await place.cli(['run', '--json', '--command', '-', '--', 'true'], { input: `${prompt}!` });
    expect(over.code).toBe(2);
  });

  it('binary output and half characters are shown as text and break nothing', async () => {
    const task = await conduct(
      `printf 'a\\000b\\377\\376c\\033[31mred\\n'; head -c 200000 /dev/urandom; printf '\\nlast line\\n'`,
    );
    const text = textOf(await eventsOf(client, task.id));
    expect([task.verdict, text.startsWith('a\0b'), text.endsWith('last line\n')]).toEqual(['accepted', true, true]);
    const shown = await place.cli(['task', 'log', task.id]);
    expect([shown.code, /[\0\x1b]/.test(shown.stdout)]).toEqual([0, false]);
  });

  it('a line of 10 MB is shown up to the limit, the rest is counted', async () => {
    const task = await conduct(`head -c 10000000 /dev/zero | tr '\\0' x`);
    const events = await eventsOf(client, task.id);
    const [notice] = bodiesOf(events, 'notice');
    const shown = textOf(events).length;
    expect([task.verdict, shown > 8_000_000, notice?.text]).toEqual([
      'accepted',
      true,
      `${10_000_000 - shown} more bytes of output are not shown.`,
    ]);
  });

  it('the network is closed; the proxy lets through what operator and task name, and nothing else', async () => {
    const url = `http://127.0.0.1:${canaryPort}`;
    const curl = (options: string, path: string): string => `curl -sS -m 5 ${options} ${url}/${path} 2>&1 || echo "exit $?"`;
    const closed = await conduct(`${curl("--noproxy '*'", 'direct')}\n${curl('--noproxy "" -x "$HTTP_PROXY"', 'direct')}`);
    expect([textOf(await eventsOf(client, closed.id)), asked.filter((line) => line.endsWith('/direct'))]).toEqual([
      expect.stringMatching(/exit \d+\nOrrery: 127\.0\.0\.1:\d+ is refused: no rule allows it\. To allow it, .*\n$/),
      [],
    ]);
    const open = await conduct(
      [
        curl('--noproxy "" -x "$HTTP_PROXY"', 'through'),
        curl("--noproxy '*'", 'beside'),
        `curl -sS -m 5 -o /dev/null -w '%{http_code}\\n' --noproxy "" -x "$HTTP_PROXY" http://127.0.0.1:${forbiddenPort}/other`,
      ].join('\n'),
      { egress: [`127.0.0.1:${canaryPort}`] },
    );
    const text = textOf(await eventsOf(client, open.id));
    expect(text).toMatch(/^the canary sings\n[^]*exit \d+\n403\n$/);
    expect(asked.map((line) => line.split(' ')[1])).toEqual(['/through']);
  });
});

describe('the queue', () => {
  it('paused starts nothing, over a restart too; resumed it goes on', async () => {
    const own = placeOfTest();
    const first = await own.up();
    expect((await own.cli(['queue', 'pause', '--json'])).code).toBe(0);
    const { id } = await own
      .client(first)
      .call('taskAdd', { body: { prompt: 'x', harness: 'command', command: sh('echo ran') } });
    await pause(500);
    expect((await own.client(first).call('taskShow', { params: { id } })).state).toBe('queued');
    await first.stop();
    const second = await own.up();
    await pause(500);
    const listed = await own.cli(['queue', 'list', '--json']);
    expect(listed.envelope().result).toMatchObject({ paused: true, items: [{ id, state: 'queued' }] });
    expect((await own.cli(['queue', 'resume', '--json'])).code).toBe(0);
    expect((await taskEnd(own.client(second), id)).verdict).toBe('accepted');
  });

  it('runs two tasks of one project at once and others beside them, by priority', async () => {
    const own = placeOfTest({ queue: { parallel: 3, perProject: 2 } });
    const up = await own.up();
    const api = own.client(up);
    const [one, two] = ['first', 'second'].map((name) => makeRepository(own, name));
    for (const source of [one!, two!]) await api.call('projectAdd', { body: { source } });
    await api.call('queuePause', { body: {} });
    const add = async (source: string, priority: number): Promise<string> =>
      (
        await api.call('taskAdd', {
          body: { prompt: 'x', project: source, priority, harness: 'command', command: sh('sleep 1.5') },
        })
      ).id;
    const ids = [await add(one!, 10), await add(one!, 10), await add(one!, 10), await add(one!, 90), await add(two!, 10)];
    await api.call('queueResume', { body: {} });
    await Promise.all(ids.map((id) => taskEnd(api, id)));
    const spans = await Promise.all(
      ids.map(async (id) => {
        const task = await api.call('taskShow', { params: { id } });
        return { one: task.project?.path === one, from: Date.parse(task.startedAt!), to: Date.parse(task.endedAt!) };
      }),
    );
    const most = (of: typeof spans): number =>
      Math.max(...of.map(({ from }) => of.filter((other) => other.from <= from && from < other.to).length));
    expect([most(spans.filter((span) => span.one)), most(spans)]).toEqual([2, 3]);
    expect(spans[3]?.from).toBe(Math.min(...spans.map(({ from }) => from)));
  });

  it('a node that drains takes no new work, lets running work end, and leaves', async () => {
    const own = placeOfTest();
    const up = await own.up();
    const api = own.client(up);
    const { id } = await api.call('taskAdd', {
      body: { prompt: 'x', harness: 'command', command: sh('echo begun; sleep 3; echo over') },
    });
    await printed(api, id, 'begun');
    const down = own.cli(['down', '--json']);
    await waitFor('draining', async () => ((await api.call('nodeShow')).state === 'draining' ? true : null));
    expect(await codeOf(api.call('taskAdd', { body: { prompt: 'late', harness: 'command', command: sh('true') } }))).toBe(
      'node_draining',
    );
    expect([(await down).code, await up.ended]).toEqual([0, { code: 0, signal: null }]);
    const next = await own.up();
    expect((await own.client(next).call('taskShow', { params: { id } })).verdict).toBe('accepted');
  });
});

describe('when all of that is over', () => {
  it('nothing is left behind', async () => {
    expect(await settledLeftovers(place, life.pid)).toEqual(nothing);
  });
});
