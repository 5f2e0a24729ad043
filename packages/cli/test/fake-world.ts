import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../src/program.ts';
import type { NodeLine } from '../src/node-process.ts';
import type { World } from '../src/world.ts';
import { startFakeNode, type FakeNode } from './fake-node.ts';
import { NOW_MS, TOKEN, type FakeState } from './fake-state.ts';

/** What a command line printed and how it ended. */
export type Printed = { readonly stdout: string; readonly stderr: string; readonly exit: number };

export type Wish = {
  readonly stdin?: string;
  readonly stdinTTY?: boolean;
  /** Lines that a person types when asked. */
  readonly typed?: readonly string[];
  /** Standard input throws something that is no `OrreryError`. */
  readonly stdinFails?: boolean;
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each listener of a stop signal, to send one. */
  /** Told of all that was printed so far on standard output, after each write. */
  readonly onPrinted?: (stdout: string) => void;
  readonly onStop?: (send: (signal: 'SIGINT' | 'SIGTERM') => void, count: number) => void;
  readonly sleep?: (ms: number) => Promise<void>;
};

/** A folder, a node and a command line that run together. */
export type Bench = {
  readonly node: FakeNode;
  readonly folder: string;
  /** The folder of a repository. */
  readonly repository: string;
  /** What the node's program was called with, and what it answers to each verb. */
  readonly nodeCalls: { readonly args: readonly string[]; readonly input: string | undefined }[];
  readonly nodeAnswers: Map<string, readonly NodeLine[]>;
  /** Text that a pager was given. */
  readonly paged: string[];
  /** Files that were shown in a browser. */
  readonly browsed: string[];
  run(argv: readonly string[], wish?: Wish): Promise<Printed>;
  /** Writes or removes the description of the running node. */
  describeNode(running: boolean, change?: Record<string, unknown>): void;
  close(): Promise<void>;
};

/** Makes a bench in a temporary folder; `close` removes it. */
export const createBench = async (change?: (state: FakeState) => void): Promise<Bench> => {
  const node = await startFakeNode(change);
  const folder = mkdtempSync(join(tmpdir(), 'orrery-cli-'));
  const data = join(folder, 'data');
  const repository = join(folder, 'site');
  mkdirSync(join(repository, '.git'), { recursive: true });
  mkdirSync(data);
  writeFileSync(join(data, 'owner.token'), `${TOKEN}\n`, { mode: 0o600 });
  const alive = new Set<number>();
  const describeNode: Bench['describeNode'] = (running, changed = {}) => {
    const descriptor = {
      installationId: node.state.installationId,
      generation: 'gen_1',
      pid: 4242,
      url: node.url,
      tokenFile: join(data, 'owner.token'),
      version: '0.1.0',
      startedAt: '2026-03-01T10:00:00.000Z',
      ...changed,
    };
    writeFileSync(join(data, 'node.json'), JSON.stringify(descriptor), { mode: 0o600 });
    if (running) alive.add(4242);
    else alive.delete(4242);
  };
  describeNode(true);
  const nodeCalls: Bench['nodeCalls'] = [];
  const nodeAnswers: Bench['nodeAnswers'] = new Map();
  const paged: string[] = [];
  const browsed: string[] = [];
  let chance = 0;
  const processes: World['processes'] = {
    isAlive: (pid) => alive.has(pid) && !node.state.stopping,
    startNode: async ({ args }) => {
      nodeCalls.push({ args: ['up', ...args], input: undefined });
      describeNode(true);
      let stop: (code: number) => void = () => undefined;
      const ended = new Promise<number>((resolve) => (stop = resolve));
      return { url: node.url, node: { ended, stop: () => stop(0) } };
    },
    callNode: async ({ args, input, onLine }) => {
      nodeCalls.push({ args, input });
      const lines = nodeAnswers.get(args.slice(0, 2).join(' ')) ?? nodeAnswers.get(args[0] ?? '') ?? [{ result: {} }];
      for (const line of lines) onLine?.(line);
      return lines.at(-1) ?? {};
    },
    page: async (_, text) => {
      paged.push(text);
      return true;
    },
    browse: async (file) => {
      browsed.push(file);
      return true;
    },
    window: async (file) => {
      browsed.push(file);
      return 'chromium';
    },
  };
  const run: Bench['run'] = async (argv, wish = {}) => {
    const printed = { stdout: '', stderr: '' };
    const output = (name: 'stdout' | 'stderr') => ({
      write: (text: string) => {
        printed[name] += text;
        if (name === 'stdout') wish.onPrinted?.(printed.stdout);
      },
      bytes: async (piece: Uint8Array) => void (printed[name] += Buffer.from(piece).toString()),
      isTTY: wish.terminal ?? false,
      rows: 24,
      columns: wish.columns ?? 100,
    });
    let listeners = 0;
    let typed = 0;
    const world: World = {
      env: { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), ORRERY_DATA: data, USER: 'ann', ...wish.env },
      cwd: repository,
      stdout: output('stdout'),
      stderr: output('stderr'),
      stdin: {
        isTTY: wish.stdinTTY ?? wish.terminal ?? false,
        read: async () => (wish.stdinFails === true ? Promise.reject(new TypeError('broken')) : (wish.stdin ?? '')),
        readLine: async (question) => {
          printed.stderr += `${question}\n`;
          return (wish.typed ?? [])[typed++] ?? null;
        },
        readHidden: async () => wish.stdin ?? '',
        follow: ({ onBytes, onEnd }) => {
          if (wish.stdin !== undefined) void onBytes(Buffer.from(wish.stdin));
          onEnd();
          return () => undefined;
        },
      },
      now: () => NOW_MS,
      random: (bytes) => new Uint8Array(bytes).fill(++chance),
      sleep: wish.sleep ?? (() => Promise.resolve()),
      onStop: (listener) => {
        listeners++;
        wish.onStop?.(listener, listeners);
        return () => undefined;
      },
      onResize: () => () => undefined,
      processes,
    };
    const exit = await runProgram(argv, world);
    return { ...printed, exit };
  };
  const close = async (): Promise<void> => {
    await node.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { node, folder, repository, nodeCalls, nodeAnswers, paged, browsed, run, describeNode, close };
};
