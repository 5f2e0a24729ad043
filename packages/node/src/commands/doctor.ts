import { join } from 'node:path';
import type { DoctorReport } from '@orrery/protocol';
import { createBackends } from '../boot/backends.ts';
import { examineMachine } from '../boot/doctor.ts';
import { loadConfig } from '../config/config.ts';
import { createBackendFactories } from '../exec/registry.ts';
import { createGit } from '../git/run.ts';
import { createHarnessPrograms } from '../harness/install.ts';
import { createHarnessRegistry } from '../harness/registry.ts';
import { findKeeperBinary } from '../keeper/binary.ts';
import { createKeeperClient } from '../keeper/client.ts';
import { directSpawner } from '../kernel/spawner.ts';
import type { Verb } from './verb.ts';

type Line = DoctorReport['lines'][number];

const noNode: Line = {
  area: 'node',
  state: 'problem',
  message: 'No node is running here; what only a node knows was not looked at.',
  fix: 'orrery up --detach',
};

/** `doctor`: what can be found out about this machine while no node runs. */
export const doctor: Verb = async ({ paths }) => {
  const config = await loadConfig({ file: paths.configFile, env: process.env });
  const keeper = createKeeperClient({ binary: () => findKeeperBinary({ explicit: process.env['ORRERY_KEEPER'] }) });
  const programs = process.env['ORRERY_PROGRAMS'] ?? join(paths.data, 'programs');
  const keeperProgram = process.env['ORRERY_KEEPER'];
  // Nothing is opened, so nothing is ever called this node's.
  const elsewhere = { installation: 'doctor', git: createGit(), spawner: directSpawner, keeperProgram, mountable: [programs] };
  const factories = createBackendFactories({
    keeper,
    stateDir: join(paths.data, 'keeper'),
    protectedPaths: [paths.data, paths.config],
    variables: process.env,
    elsewhere,
  });
  const lines = await examineMachine({
    config,
    backends: createBackends(factories, () => config.current()),
    harnesses: createHarnessRegistry(),
    programs: createHarnessPrograms({ directory: programs }),
    dataDirectory: paths.data,
  });
  return { result: { lines: [noNode, ...lines], checkedAt: new Date().toISOString() } };
};
