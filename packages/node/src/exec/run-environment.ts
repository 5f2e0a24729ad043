// The environment variables of a program: built from a list, never inherited.
import { OrreryError } from '@orrery/protocol/errors';
import type { EnvironmentSpec, RunSpec } from './backend.ts';
import { looksSecret } from './secret-mask.ts';

/** The machine a program runs on, as far as its variables are concerned. */
export type MachineEnvironment = {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly user: string;
  /** Folders of tools that the operator added; they come first in PATH. */
  readonly toolFolders?: readonly string[];
  /** Where programs lie when that is not the usual: another machine's own PATH. */
  readonly path?: string;
};

/** Names that mean the environment's own places, whoever asks for them. */
const PRIVATE_NAMES = ['HOME', 'TMPDIR', 'TMP', 'TEMP'];
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const passed = (name: string, machine: MachineEnvironment): string | undefined => {
  if (!looksSecret(name) && !name.startsWith('ORRERY_')) return machine.variables[name];
  throw new OrreryError('refused_by_policy', `The variable ${name} is not passed to programs.`, {
    rule: "Names that look like secrets, and the node's own, are never passed through.",
    fix: 'Give the program a value of its own for it.',
  });
};

/** `ORRERY_PORT_WEB` for the port `web`. */
const portVariables = ({ ports }: EnvironmentSpec): Record<string, string> =>
  Object.fromEntries(
    Object.entries(ports.named ?? {}).map(([name, port]) => [
      `ORRERY_PORT_${name.toUpperCase().replaceAll('-', '_')}`,
      String(port),
    ]),
  );

/** Whether a project may give a variable of that name to every program: what the node means by a name stays what it is. */
export const isProjectVariable = (name: string): boolean =>
  ![...PRIVATE_NAMES, 'PATH', 'SHELL', 'USER', 'LOGNAME', 'TERM', 'ENV', 'BASH_ENV'].includes(name) &&
  !/^(ORRERY|LD)_/.test(name) &&
  !/_proxy$/i.test(name);

/**
 * What the program gets: its private HOME and TMPDIR, PATH, a language, who it is; then the names passed through (HOME
 * and TMPDIR stay the environment's own), then the run's own values, which win. Throws `refused_by_policy` for a name
 * that looks like a secret.
 */
export const buildRunEnvironment = (
  environment: EnvironmentSpec,
  run: RunSpec,
  machine: MachineEnvironment,
): Record<string, string> => {
  const own: Record<string, string> = {
    HOME: environment.home,
    TMPDIR: environment.scratchpad,
    TMP: environment.scratchpad,
    TEMP: environment.scratchpad,
    PATH: [...(machine.toolFolders ?? []), machine.path ?? SYSTEM_PATH].join(':'),
    LANG: environment.variables?.['LANG'] ?? 'C.UTF-8',
    SHELL: '/bin/sh',
    USER: machine.user,
    LOGNAME: machine.user,
    ...portVariables(environment),
    ...(run.stdio === 'pty' ? { TERM: 'xterm-256color' } : {}),
  };
  const through: Record<string, string> = {};
  for (const name of run.envPassthrough) {
    const value = PRIVATE_NAMES.includes(name) ? undefined : passed(name, machine);
    if (value !== undefined) through[name] = value;
  }
  return { ...environment.variables, ...own, ...through, ...run.env };
};
