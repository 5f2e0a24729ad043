// A checkout, a broker and a backend on a host, for tests that are about one environment.
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment, EnvironmentSpec, RunSpec } from '../../src/exec/backend.ts';
import { collect, word } from '../conformance/stage.ts';
import { sampleEnvironment, sampleRun } from '../exec/sample-specs.ts';
import type { SshHost } from './host.ts';

/** What such a test has. */
export type SshStage = {
  readonly root: string;
  readonly stateDir: string;
  readonly spec: EnvironmentSpec;
  /** What the broker was asked. */
  readonly asked: string[];
  close(): Promise<void>;
};

const listen = async (socket: string, asked: string[]): Promise<Server> => {
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end(`broker heard ${request.url}\n`);
  });
  await new Promise<void>((resolve) => {
    server.listen(socket, resolve);
  });
  return server;
};

/** Sets a stage. */
export const openSshStage = async (): Promise<SshStage> => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-ssh-stage-'));
  const asked: string[] = [];
  const spec = sampleEnvironment({
    id: `env-${word()}`,
    workdir: join(root, 'work'),
    home: join(root, 'home'),
    scratchpad: join(root, 'tmp'),
    brokerSocket: join(root, 'broker.sock'),
    limits: { wallMs: 300_000, outputBytes: 1024 ** 3 },
    required: ['files', 'network', 'processes'],
  });
  for (const path of [spec.workdir, spec.home, spec.scratchpad]) mkdirSync(path);
  const broker = await listen(spec.brokerSocket, asked);
  return {
    root,
    stateDir: join(root, 'state'),
    spec,
    asked,
    close: async () => {
      broker.closeAllConnections();
      await new Promise((resolve) => {
        broker.close(resolve);
      });
      rmSync(root, { recursive: true, force: true });
    },
  };
};

/** Runs a script to its end. */
export const runScript = async (environment: Environment, script: string, over: Partial<RunSpec> = {}) => {
  const { workdir } = environment;
  const limits = { wallMs: 300_000, outputBytes: 1024 ** 3 };
  const spec = sampleRun({ args: ['-c', script], cwd: workdir, runId: `run-${word()}`, limits, ...over });
  const handle = await environment.start(spec);
  await handle.go();
  const [stdout, stderr, end] = await Promise.all([collect(handle, 'stdout'), collect(handle, 'stderr'), handle.wait()]);
  await handle.finish();
  return { stdout: stdout.toString(), stderr: stderr.toString(), end };
};

/** What is there of environments on a host. */
export const leftOn = (host: SshHost, account = 'root'): string[] => {
  try {
    return readdirSync(join(host.home(account), '.local/share/orrery/env'), { recursive: true })
      .map(String)
      .toSorted();
  } catch {
    return [];
  }
};

/** Clients that the backend of a state directory started and that still run: they run where its sockets are. */
export const clientsOf = (stateDir: string): string[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`) === join(stateDir, 'ssh-sockets');
      } catch {
        return false;
      }
    });
