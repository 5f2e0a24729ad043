// What a confined run really gets on this machine: one is prepared as far as its closed gate, and looks around.
import { mkdir, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import type { GuaranteeReport, KeeperClient, KeeperGuarantee, KeeperSpec } from '../../keeper/types.ts';
import type { EnvironmentSpec, RunSpec } from '../backend.ts';
import { makePlaceholders, removePlaceholders } from '../placeholders.ts';

const ALL: readonly KeeperGuarantee[] = ['files', 'network', 'hosts', 'processes', 'signals', 'limits'];
/** Small bounds, so that the limits are really asked for. */
const LIMITS = { wallMs: 10_000, memoryBytes: 256 * 1024 * 1024, processes: 64, outputBytes: 1024 };

const probeEnvironment = (root: string): EnvironmentSpec => ({
  id: 'probe',
  taskId: 'probe',
  workdir: join(root, 'work'),
  home: join(root, 'home'),
  scratchpad: join(root, 'tmp'),
  grants: [],
  readOnly: [join(root, 'work/closed')],
  ports: { connect: [], bind: [], egress: [] },
  limits: LIMITS,
  required: [],
  brokerSocket: join(root, 'broker.sock'),
  project: null,
  image: null,
});

const probeRun = (cwd: string): RunSpec => ({
  command: 'true',
  args: [],
  cwd,
  grants: [],
  env: {},
  envPassthrough: [],
  stdio: 'piped',
  limits: LIMITS,
  label: 'probe',
  runId: 'probe',
});

const nothing = (why: string): GuaranteeReport[] =>
  ALL.map((guarantee) => ({ guarantee, held: false, by: 'nothing', missing: why }));

/**
 * Each guarantee as a prepared run reports it. Walls that cannot be built here are no error: then nothing is held, and
 * why is said with each. Leaves nothing behind.
 */
export const probeBubblewrap = async (
  keeper: KeeperClient,
  render: (environment: EnvironmentSpec, run: RunSpec) => KeeperSpec,
): Promise<readonly GuaranteeReport[]> => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'orrery-bubblewrap-')));
  const dir = join(root, 'keeper');
  const made = [root];
  try {
    const environment = probeEnvironment(root);
    for (const path of [environment.workdir, environment.home, environment.scratchpad]) {
      await mkdir(path, { mode: 0o700 });
      made.push(path);
    }
    made.push(...(await makePlaceholders(environment.readOnly)));
    const connection = await keeper.launch(dir, render(environment, probeRun(environment.workdir)));
    const { guarantees } = connection;
    connection.close();
    return guarantees;
  } catch (thrown) {
    if (thrown instanceof OrreryError && thrown.code === 'backend_unavailable') return nothing(thrown.message);
    throw thrown;
  } finally {
    await keeper.end(dir);
    await keeper.remove(dir);
    await removePlaceholders(made);
  }
};
