// An environment whose programs run in a place.
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import type { GuaranteeReport, KeeperClient, KeeperIdentity } from '../../keeper/types.ts';
import type { Environment, EnvironmentSpec, Handle, RunSpec } from '../backend.ts';
import { describeKeeperSpec } from '../describe-run.ts';
import { checkName } from '../environment-directory.ts';
import { deadHandle, liveHandle } from '../keeper-handle.ts';
import { scriptAsRun } from '../keeper-spec.ts';
import { PROVIDED_FILE_BYTES } from '../limits.ts';
import type { Belongings } from './belongings.ts';
import type { Custody } from './custody.ts';
import type { Ledger } from './ledger.ts';
import { tellingMemory } from './memory-kills.ts';
import type { Line } from './patience.ts';
import { existing, putBelow, putFile } from './place-tools.ts';
import { reachPort } from './reach.ts';
import { environmentInside, pathsWanted, renderInPlace } from './render.ts';
import type { PlaceView } from './render.ts';

/** What an environment in a place is made of. */
export type RemoteEnvironmentParts = {
  readonly backend: string;
  readonly spec: EnvironmentSpec;
  readonly line: Line;
  readonly keeper: KeeperClient;
  readonly ledger: Ledger;
  readonly belongings: Belongings;
  readonly custody: Custody;
  readonly guarantees: readonly GuaranteeReport[];
  /** Everything rendering needs beside the paths and the disk. */
  readonly view: Omit<PlaceView, 'paths' | 'disk'>;
  /** Paths of the system that are there. */
  readonly system: ReadonlySet<string>;
};

/** What is known of the place's disk: what was never asked for is taken to be there until a program needs it. */
const createKnown = (system: ReadonlySet<string>, asked: readonly string[]) => {
  const known = new Map(asked.map((path) => [path, system.has(path)]));
  return {
    disk: { exists: (path: string) => known.get(path) ?? true, real: (path: string) => path },
    learn: async (line: Line, paths: readonly string[]): Promise<void> => {
      const open = [...new Set(paths)].filter((path) => known.get(path) !== true);
      const found = await existing(line, open);
      for (const path of open) known.set(path, found.has(path));
    },
  };
};

/** A handle as one of a place: whose keeper it is says where it is. */
const placed = (handle: Handle, { line, ledger }: Pick<RemoteEnvironmentParts, 'line' | 'ledger'>): Handle => ({
  ...tellingMemory(handle, line, ledger),
  identity: { ...line.place.identity, keeper: handle.identity as KeeperIdentity },
});

const createReattach =
  (parts: RemoteEnvironmentParts, dirOf: (runId: string) => string) =>
  async (runId: string): Promise<Handle | null> => {
    const { keeper, custody } = parts;
    const dir = dirOf(runId);
    const connection = await keeper.adopt(dir);
    if (connection !== null) return custody.hold(placed(liveHandle(runId, connection, keeper), parts));
    const remains = await keeper.remains(dir);
    if (remains.identity !== null) {
      const dead = { runId, dir, remains: { ...remains, identity: remains.identity } };
      return placed(deadHandle(dead, keeper), parts);
    }
    // No keeper ever said who it is, so none was told to go: nothing ran and nothing can.
    await keeper.remove(dir);
    return null;
  };

/** A loopback that others of the machine use too would lead to their programs. */
const forward = ({ guarantees, backend, line }: RemoteEnvironmentParts, port: number): Promise<Duplex> => {
  if (guarantees.some(({ guarantee, held }) => guarantee === 'network' && held)) return reachPort(line, port);
  return Promise.reject(
    new OrreryError('unsupported', `The backend ${backend} does not reach ports of this environment.`, {
      rule: 'Its programs share their loopback with others, and nobody gets a port of another environment.',
    }),
  );
};

const provide = async (line: Line, name: string, content: Uint8Array): Promise<string> => {
  if (content.length > PROVIDED_FILE_BYTES) {
    throw new OrreryError('input_too_large', `A file of ${content.length} bytes is too large to be carried in.`, {
      rule: `At most ${PROVIDED_FILE_BYTES} bytes.`,
    });
  }
  const path = `${line.layout.provided}/${checkName('The file', name)}`;
  await putFile(line, path, { bytes: content, mode: 0o600 });
  return path;
};

/** The view of an environment whose place is furnished and has everything staged. */
export const createRemoteEnvironment = (parts: RemoteEnvironmentParts, asked: readonly string[]): Environment => {
  const { backend, spec, line, keeper, belongings, custody } = parts;
  const known = createKnown(parts.system, asked);
  const viewOf = (run: Pick<RunSpec, 'grants'>): PlaceView => ({
    ...parts.view,
    paths: belongings.pathsFor([...spec.grants, ...run.grants]),
    disk: known.disk,
  });
  const dirOf = (runId: string): string => `${line.layout.runs}/${checkName('The run', runId)}`;
  const inside = environmentInside(spec, viewOf({ grants: [] }));
  const start = async (run: RunSpec): Promise<Handle> => {
    await custody.begin();
    await belongings.bring(run.grants);
    const view = viewOf(run);
    await known.learn(line, pathsWanted(spec, run, view));
    const connection = await keeper.launch(dirOf(run.runId), renderInPlace(spec, run, view));
    return custody.hold(placed(liveHandle(run.runId, connection, keeper), parts));
  };
  const describe = (run: RunSpec): string => {
    const where = Object.entries(line.place.identity).map(([name, value]) => `${name} ${value}`);
    const notice = `in ${where.join(', ')}, below ${line.layout.root}`;
    const said = { backend, notice, label: run.label, secretNames: run.secretNames ?? [] };
    return describeKeeperSpec(renderInPlace(spec, run, viewOf(run)), said);
  };
  return {
    id: spec.id,
    backend,
    guarantees: parts.guarantees,
    brokerEndpoint: `http://127.0.0.1:${parts.view.front.port}`,
    freshEnvironment: true,
    carriesAgentState: true,
    workdir: inside.workdir,
    home: inside.home,
    scratchpad: inside.scratchpad,
    start,
    reattach: createReattach(parts, dirOf),
    startScript: (script) => start(scriptAsRun(script)),
    provide: (name, content) => provide(line, name, content),
    describe,
    describeScript: (script) => describe(scriptAsRun(script)),
    forward: (port) => forward(parts, port),
    stats: () => line.place.stats(),
    writeHomeFile: (path, content) => putBelow(line, { root: inside.home, path, bytes: Buffer.from(content) }),
    sync: custody.sync,
    close: custody.close,
  };
};
