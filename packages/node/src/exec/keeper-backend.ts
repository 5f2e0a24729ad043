// A backend whose environments run under keepers on this machine: what `local`, `sandbox` and `bubblewrap` share.
import { existsSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import type { GuaranteeReport, KeeperClient, KeeperGuarantee, KeeperSpec } from '../keeper/types.ts';
import type { Backend, Environment, EnvironmentSpec } from './backend.ts';
import { environmentDirectory } from './environment-directory.ts';
import type { Disk } from './grants.ts';
import { checkGuarantees } from './guarantee-check.ts';
import { createKeeperEnvironment, settleEnvironment } from './keeper-environment.ts';
import type { FrontSettings, RenderInput } from './keeper-spec.ts';
import type { MachineEnvironment } from './run-environment.ts';
import { userName } from './user-name.ts';

/** What the node gives every keeper backend. */
export type KeeperBackendParts = {
  readonly keeper: KeeperClient;
  /** A directory of this ring alone (0700), below the data directory; made when it is needed. */
  readonly stateDir: string;
  /** Directories that no program is ever granted, nor anything above them: the data directory. */
  readonly protectedPaths: readonly string[];
  /** The machine's variables that may be passed through by name; never copied as a whole. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly disk?: Disk;
  readonly user?: string;
};

/** What makes one keeper backend differ from another. */
export type KeeperBackendKind = {
  readonly name: string;
  readonly notice: string | null;
  readonly cannotStop: readonly string[];
  readonly defaultRequired: readonly KeeperGuarantee[];
  readonly guarantees: () => Promise<readonly GuaranteeReport[]>;
  readonly front: FrontSettings;
  /** The broker's port of a new environment. */
  readonly frontPort: () => Promise<number>;
  readonly render: (input: RenderInput) => KeeperSpec;
  /** Throws when a program that the backend needs is not there; asked before anything else. */
  readonly available?: () => Promise<void>;
  /** Whether a protected path that is not there has to be held by an empty folder. */
  readonly placeholders?: boolean;
};

/** The disk of this machine. */
export const systemDisk: Disk = {
  exists: existsSync,
  real: (path) => {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  },
};

/** A loopback port nobody has at this moment. */
export const freeLoopbackPort = async (): Promise<number> => {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject).listen(0, '127.0.0.1', () => {
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    server.close(() => resolve(port));
  });
  return promise;
};

const namesIn = async (path: string): Promise<string[]> => {
  try {
    return await readdir(path);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return [];
    throw thrown;
  }
};

const reclaim = async (parent: string, keeper: KeeperClient, live: readonly string[]): Promise<string[]> => {
  const dead = (await namesIn(parent)).filter((id) => !live.includes(id));
  const results = await Promise.allSettled(dead.map(async (id) => settleEnvironment(keeper, environmentDirectory(parent, id))));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return dead;
};

/**
 * Asks once and remembers the answer; a failure is asked again, and an answer by which nothing is held: a program that was
 * missing may be there now. What a machine can guarantee otherwise changes with a restart of it.
 */
const once = (ask: () => Promise<readonly GuaranteeReport[]>): (() => Promise<readonly GuaranteeReport[]>) => {
  let answer: Promise<readonly GuaranteeReport[]> | null = null;
  const keepIfHeld = async (): Promise<readonly GuaranteeReport[]> => {
    const reports = await ask().catch((thrown: unknown) => {
      answer = null;
      throw thrown;
    });
    if (!reports.some(({ held }) => held)) answer = null;
    return reports;
  };
  return () => (answer ??= keepIfHeld());
};

/** A backend of `kind`. */
export const createKeeperBackend = (kind: KeeperBackendKind, parts: KeeperBackendParts): Backend => {
  const guarantees = once(kind.guarantees);
  const { keeper, stateDir, protectedPaths, disk = systemDisk } = parts;
  const parent = join(stateDir, kind.name);
  const machine: MachineEnvironment = { variables: parts.variables, user: parts.user ?? userName() };
  const view = async (spec: EnvironmentSpec, frontPort: number): Promise<Environment> => {
    const directory = environmentDirectory(parent, spec.id);
    const fence = { notAround: [stateDir, ...protectedPaths], notInside: stateDir, except: directory.provided };
    const front = { ...kind.front, port: frontPort };
    return createKeeperEnvironment({
      backend: kind.name,
      notice: kind.notice,
      guarantees: await guarantees(),
      spec,
      directory,
      frontPort,
      keeper,
      render: (run) => kind.render({ environment: spec, run, machine, disk, fence, front }),
      placeholders: kind.placeholders ?? false,
    });
  };
  const preflight = async (required: readonly KeeperGuarantee[]): Promise<void> => {
    await kind.available?.();
    checkGuarantees(kind.name, await guarantees(), required);
  };
  return {
    name: kind.name,
    exposure: { kind: 'loopback' },
    guarantees,
    cannotStop: kind.cannotStop,
    defaultRequired: kind.defaultRequired,
    preflight,
    open: async (spec) => {
      await preflight(spec.required);
      const frontPort = await kind.frontPort();
      await environmentDirectory(parent, spec.id).create({ version: 1, id: spec.id, taskId: spec.taskId, frontPort });
      return view(spec, frontPort);
    },
    reopen: async (spec) => {
      const record = await environmentDirectory(parent, spec.id).read();
      if (record !== null) return view(spec, record.frontPort);
      throw new OrreryError('not_found', `The environment ${spec.id} was never opened by ${kind.name}, or it was closed.`, {
        fix: 'Open a new one.',
      });
    },
    reclaim: (live) => reclaim(parent, keeper, live),
  };
};
