// From an environment and a run to what a keeper is told: the part all keeper backends share. Pure.
import type { Confinement, KeeperLimits, KeeperSpec } from '../keeper/types.ts';
import type { EnvironmentSpec, Limits, RunSpec, ScriptSpec } from './backend.ts';
import type { Disk, Fence } from './grants.ts';
import { GO_TIMEOUT_MS, RELEASE_TIMEOUT_MS, SPOOL_WINDOW_BYTES } from './limits.ts';
import { buildRunEnvironment } from './run-environment.ts';
import type { MachineEnvironment } from './run-environment.ts';

/** How the broker's front behaves, from the backend's options. */
export type FrontSettings = { readonly brokerHoldMs: number; readonly brokerHoldMax: number };

/** Everything a keeper's spec is made from. */
export type RenderInput = {
  readonly environment: EnvironmentSpec;
  readonly run: RunSpec;
  readonly machine: MachineEnvironment;
  readonly disk: Disk;
  readonly fence: Fence;
  readonly front: FrontSettings & { readonly port: number };
};

const least = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

/** The narrower of both, limit by limit. */
export const keeperLimits = (environment: Limits, run: Limits): KeeperLimits => ({
  wallMs: Math.min(environment.wallMs, run.wallMs),
  cpuSeconds: least(environment.cpuSeconds, run.cpuSeconds),
  memoryBytes: least(environment.memoryBytes, run.memoryBytes),
  processes: least(environment.processes, run.processes),
  fileBytes: least(environment.diskBytes, run.diskBytes),
  outputBytes: Math.min(environment.outputBytes, run.outputBytes),
  spoolWindowBytes: SPOOL_WINDOW_BYTES,
});

/** The spec of one run; `confinement` is the backend's part. */
export const renderKeeperSpec = (
  { environment, run, machine, front }: RenderInput,
  confinement: Confinement | null,
): KeeperSpec => ({
  command: run.command,
  args: run.args,
  cwd: run.cwd,
  env: buildRunEnvironment(environment, run, machine),
  stdio: run.stdio,
  ...(run.terminal === undefined ? {} : { terminal: run.terminal }),
  confinement,
  limits: keeperLimits(environment.limits, run.limits),
  front: { port: front.port, target: environment.brokerSocket, holdMs: front.brokerHoldMs, holdMax: front.brokerHoldMax },
  required: environment.required,
  goTimeoutMs: GO_TIMEOUT_MS,
  releaseTimeoutMs: RELEASE_TIMEOUT_MS,
});

/** A script as a run: bash reads the file, which is granted for reading; no start-up file of the agent's is read. */
export const scriptAsRun = (script: ScriptSpec): RunSpec => ({
  command: 'bash',
  args: ['--noprofile', '--norc', script.path],
  cwd: script.cwd,
  grants: [...script.grants, { path: script.path, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true }],
  env: script.env,
  secretNames: script.secretNames,
  envPassthrough: [],
  stdio: 'piped',
  limits: script.limits,
  label: script.label,
  runId: script.runId,
});
