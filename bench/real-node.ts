import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { sparingMemory } from '../packages/cli/src/node-process.ts';
import { createClient, type Client } from '../packages/client/src/index.ts';
import type { OrreryEvent, TaskCreate } from '../packages/protocol/src/index.ts';

/** A node of its own in a process of its own, as `orrery up` runs it. */
export type RealNode = {
  readonly pid: number;
  readonly client: Client;
  readonly url: string;
  /** Opens a stream of its API, whose text is not read yet. */
  stream(path: string): Promise<IncomingMessage>;
  /** From the start of the process until it said that it serves, ms. */
  readonly readyMs: number;
  readonly database: string;
  /** Ends it as a person would, at once; programs run on. */
  stop(): Promise<void>;
  /** Ends it without asking. */
  kill(): Promise<void>;
};

const main = join(import.meta.dirname, '..', 'packages', 'node', 'src', 'main.ts');

/** How long a node may take to stop by itself. */
const PATIENCE_MS = 5_000;

type NodePlace = { readonly directory: string; readonly config?: object; readonly nodeOptions?: readonly string[] };

/** Starts a node with its data below `directory`; an earlier one's data there is taken up again. */
export const startNode = async ({ directory, config = {}, nodeOptions = [] }: NodePlace): Promise<RealNode> => {
  const data = join(directory, 'data');
  const home = join(directory, 'home');
  mkdirSync(home, { recursive: true });
  const configFile = join(directory, 'config', 'config.json');
  mkdirSync(join(directory, 'config'), { recursive: true, mode: 0o700 });
  writeFileSync(configFile, JSON.stringify(config), { mode: 0o600 });
  const from = performance.now();
  const args = ['up', '--data', data, '--config', configFile, '--listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, [...sparingMemory.flags, ...nodeOptions, main, ...args], {
    cwd: directory,
    // Compile cache and memory as the command line sets them.
    env: { ...sparingMemory.environment, PATH: process.env['PATH'], HOME: home, NODE_COMPILE_CACHE: join(directory, 'compile') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { url } = await firstLine(child);
  const readyMs = performance.now() - from;
  const token = readFileSync(join(data, 'owner.token'), 'utf8').trim();
  const client = createClient({ url, token });
  const exit = once(child, 'exit');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    client.close();
    child.kill(signal);
    await exit;
  };
  return {
    pid: child.pid!,
    client,
    url,
    stream: (path) => openStream(`${url}${path}`, token),
    readyMs,
    database: join(data, 'orrery.db'),
    stop: async () => {
      // The second one ends it although tasks run: after a failure some may.
      const again = setTimeout(() => child.kill('SIGTERM'), PATIENCE_MS);
      await end('SIGTERM');
      clearTimeout(again);
    },
    kill: () => end('SIGKILL'),
  };
};

const openStream = async (url: string, token: string): Promise<IncomingMessage> => {
  const request = get(url, { headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' }, agent: false });
  // Leaving a stream in its middle resets the connection; who reads notices when too little came.
  request.on('error', () => undefined);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the stream answered ${response.statusCode}`);
  return response.setEncoding('latin1');
};

const firstLine = async (child: ChildProcess): Promise<{ url: string }> => {
  for await (const line of createInterface({ input: child.stdout! })) {
    const word = JSON.parse(line) as { ready?: boolean; url?: string; error?: { message: string } };
    if (word.ready === true && word.url !== undefined) return { url: word.url };
    throw new Error(`the node did not start: ${line}`);
  }
  throw new Error('the node ended before it was ready');
};

/** A task that runs a program without a model. */
export const commandTask = (command: readonly string[], given: Partial<TaskCreate> = {}): TaskCreate => ({
  prompt: 'a measurement',
  harness: 'command',
  command: [...command],
  ...given,
});

/** The first event of a task that fits. */
export const untilEvent = async (client: Client, id: string, fits: (event: OrreryEvent) => boolean): Promise<OrreryEvent> => {
  const reading = new AbortController();
  try {
    for await (const event of client.taskEvents(id, { signal: reading.signal })) if (fits(event)) return event;
  } finally {
    reading.abort();
  }
  throw new Error(`the events of ${id} ended`);
};

/** Waits until a task's agent program runs. */
export const untilRunning = (client: Client, id: string): Promise<OrreryEvent> =>
  untilEvent(client, id, ({ body }) => {
    if (body.kind === 'task.ended') throw new Error(`the task ended early: ${body.verdict}, ${body.reason}`);
    return body.kind === 'text' && body.text.includes('going');
  });

/** A program that says that it runs and then waits. */
export const waitingProgram = ['sh', '-c', 'echo going; exec sleep 600'] as const;

/** Keepers whose directory lies below `directory`. */
export const keepersBelow = (directory: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return argv[1] === 'run' && (argv[3] ?? '').startsWith(directory);
      } catch {
        return false;
      }
    });

/** Ends every keeper below a directory of a benchmark; their programs end with them. */
export const endKeepers = (directory: string): void => {
  for (const pid of keepersBelow(directory)) process.kill(pid, 'SIGKILL');
};

/** Starts so many waiting programs and resolves when all of them run. */
export const startWaiting = async (node: RealNode, count: number, given: Partial<TaskCreate>): Promise<readonly string[]> => {
  const tasks = await Promise.all(
    Array.from({ length: count }, () => node.client.call('taskAdd', { body: commandTask(waitingProgram, given) })),
  );
  await Promise.all(tasks.map(({ id }) => untilRunning(node.client, id)));
  return tasks.map(({ id }) => id);
};

/** Cancels tasks and waits for their ends. */
export const cancelAll = async (node: RealNode, ids: readonly string[]): Promise<void> => {
  await Promise.all(ids.map((id) => node.client.call('taskCancel', { params: { id }, body: {} })));
  await Promise.all(ids.map((id) => untilEvent(node.client, id, ({ body }) => body.kind === 'task.ended')));
};
