// An environment whose programs run under keepers on this machine: the part that keeper backends share.
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import { writeBelow } from '../files/write-below.ts';
import type { GuaranteeReport, KeeperClient, KeeperSpec } from '../keeper/types.ts';
import type { Environment, EnvironmentSpec, Handle, RunSpec } from './backend.ts';
import { describeKeeperSpec } from './describe-run.ts';
import type { EnvironmentDirectory } from './environment-directory.ts';
import { createDiskMeasure, type DiskMeasure } from './disk-measure.ts';
import { deadHandle, liveHandle } from './keeper-handle.ts';
import { scriptAsRun } from './keeper-spec.ts';
import { connectToOwnListener, nobodyListens } from './own-listener.ts';
import { makePlaceholders, removePlaceholders } from './placeholders.ts';
import { descendants, residentBytes } from './process-tree.ts';

/** What an environment is made of. */
export type KeeperEnvironmentParts = {
  readonly backend: string;
  /** Said on every launch, or null. */
  readonly notice: string | null;
  readonly guarantees: readonly GuaranteeReport[];
  readonly spec: EnvironmentSpec;
  readonly directory: EnvironmentDirectory;
  readonly frontPort: number;
  readonly keeper: KeeperClient;
  readonly render: (run: RunSpec) => KeeperSpec;
  readonly placeholders: boolean;
};

const reattach = async ({ keeper, directory }: KeeperEnvironmentParts, runId: string): Promise<Handle | null> => {
  const dir = directory.runDir(runId);
  const connection = await keeper.adopt(dir);
  if (connection !== null) return liveHandle(runId, connection, keeper);
  const remains = await keeper.remains(dir);
  if (remains.identity !== null) return deadHandle({ runId, dir, remains: { ...remains, identity: remains.identity } }, keeper);
  // No keeper ever said who it is, so none was told to go: nothing ran and nothing can.
  await keeper.remove(dir);
  return null;
};

/** Ends every program of an environment and removes its directory. Rejects when something of it cannot be ended. */
export const settleEnvironment = async (keeper: KeeperClient, directory: EnvironmentDirectory): Promise<void> => {
  const settle = async (runId: string): Promise<void> => {
    const dir = directory.runDir(runId);
    await keeper.end(dir);
    // Refuses while the keeper lives: the proof that it does not.
    await keeper.remove(dir);
  };
  const results = await Promise.allSettled((await directory.runs()).map(settle));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  await removePlaceholders((await directory.read())?.placeholders ?? []);
  await directory.remove();
};

/** Before a program starts: what is not there cannot be made read-only, and could be made by it. */
const holdProtected = async ({ confinement }: KeeperSpec, directory: EnvironmentDirectory): Promise<void> => {
  const made = await makePlaceholders(confinement?.readOnly ?? []);
  if (made.length > 0) await directory.notePlaceholders(made);
};

/** Every process below the keepers of an environment. */
const programsOf = async ({ keeper, directory }: KeeperEnvironmentParts): Promise<number[]> => {
  const remains = await Promise.all((await directory.runs()).map((runId) => keeper.remains(directory.runDir(runId))));
  const keepers = remains.flatMap(({ identity }) => (identity === null ? [] : [identity.pid]));
  return (await Promise.all(keepers.map(descendants))).flat();
};

/** Asks each program that has a network of its own; the others share the machine's, where the owner of a port is looked for. */
const forward = async (parts: KeeperEnvironmentParts, port: number): Promise<Duplex> => {
  const { keeper, directory, spec, frontPort } = parts;
  const environmentId = spec.id;
  let shared = false;
  for (const runId of port === frontPort ? [] : await directory.runs()) {
    const connection = await keeper.adopt(directory.runDir(runId));
    if (connection === null) continue;
    try {
      const own = connection.guarantees.some(({ guarantee, held }) => guarantee === 'network' && held);
      const pipe = own ? await connection.reach(port) : null;
      if (pipe !== null) return pipe;
      shared ||= !own;
    } finally {
      connection.close();
    }
  }
  if (shared) return connectToOwnListener({ environmentId, port, pids: () => programsOf(parts) });
  throw nobodyListens(environmentId, port);
};

const measure = async (parts: KeeperEnvironmentParts, disk: DiskMeasure): ReturnType<Environment['stats']> => {
  const pids = await programsOf(parts);
  const sizes = await Promise.all(pids.map(residentBytes));
  return { processes: pids.length, memoryBytes: sizes.reduce((sum, size) => sum + size, 0), diskBytes: await disk() };
};

/** Opens the view of an environment whose directory exists. */
export const createKeeperEnvironment = (parts: KeeperEnvironmentParts): Environment => {
  const { backend, notice, spec, directory, keeper, render, frontPort } = parts;
  let closed = false;
  const disk = createDiskMeasure([spec.workdir, spec.home]);
  const start = async (run: RunSpec): Promise<Handle> => {
    if (closed)
      throw new OrreryError('stale', `The environment ${spec.id} is closed.`, {
        rule: 'Nothing is started in a closed environment.',
      });
    const rendered = render(run);
    if (parts.placeholders) await holdProtected(rendered, directory);
    const connection = await keeper.launch(directory.runDir(run.runId), rendered);
    return liveHandle(run.runId, connection, keeper);
  };
  const describe = (run: RunSpec): string =>
    describeKeeperSpec(render(run), { backend, notice, label: run.label, secretNames: run.secretNames ?? [] });
  return {
    id: spec.id,
    backend,
    guarantees: parts.guarantees,
    brokerEndpoint: `http://127.0.0.1:${frontPort}`,
    freshEnvironment: true,
    carriesAgentState: true,
    workdir: spec.workdir,
    home: spec.home,
    scratchpad: spec.scratchpad,
    start,
    reattach: (runId) => reattach(parts, runId),
    startScript: (script) => start(scriptAsRun(script)),
    provide: directory.provide,
    describe,
    describeScript: (script) => describe(scriptAsRun(script)),
    forward: (port) => forward(parts, port),
    stats: () => measure(parts, disk),
    writeHomeFile: (path, content) => writeBelow(spec.home, path, content),
    // What programs do here is done in the working directory itself.
    sync: () => Promise.resolve(),
    close: async () => {
      closed = true;
      await settleEnvironment(keeper, directory);
      return { lost: null };
    },
  };
};
