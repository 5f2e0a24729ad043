import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NamedPorts, NamedRow } from '../../environment/index.ts';
import type { EnvironmentSpec, PathGrant } from '../../exec/backend.ts';
import { makeOwned, own } from '../../files/own.ts';
import type { OwnedDirectory } from '../../files/remove.ts';
import { borrowsOf } from '../borrows.ts';
import { imageParts, limitsOf } from '../attempt-settings.ts';
import { memoryGrants, memoryPaths } from '../memory.ts';
import type { AttemptSettings, HookName, ConductorParts, WorkPlace } from '../doors.ts';

/** What making an environment found out; stored with it. */
export type NamedPrepared = {
  readonly baseSha: string;
  readonly baseName: string;
  readonly place: WorkPlace;
  readonly hooks: readonly HookName[];
  readonly settings: AttemptSettings;
};

export const preparedOf = (row: NamedRow): NamedPrepared | null => {
  if (row.prepared === null) return null;
  const stored = JSON.parse(row.prepared) as NamedPrepared;
  // An environment outlives the version of the node that made it.
  return { ...stored, settings: { ...settingsAddedLater, ...stored.settings } };
};

/** The commit that it began at; null: it was not made yet. */
export const baseShaOf = (row: NamedRow): string | null => row.base_sha ?? preparedOf(row)?.baseSha ?? null;

const settingsAddedLater = { copy: [], cache: [], submodules: 'none', lfs: 'pointers' } as const;

/** The paths of an environment beside its checkout. */
export const placePaths = (parts: Pick<ConductorParts, 'environmentsDirectory'>, id: string) => {
  const directory = join(parts.environmentsDirectory, id);
  return {
    directory,
    home: join(directory, 'home'),
    scratchpad: join(directory, 'tmp'),
    private: join(directory, 'private'),
    hooks: join(directory, 'hooks'),
    egressToken: join(directory, 'private', 'egress-token'),
    init: join(directory, 'hooks', 'init.sh'),
    setup: join(directory, 'hooks', 'setup.sh'),
  };
};

/** Makes the directories; those that an earlier start of the node made but did not record are taken over. */
export const makePlace = async (parts: ConductorParts, id: string): Promise<OwnedDirectory> => {
  const paths = placePaths(parts, id);
  const directory = existsSync(paths.directory) ? own(paths.directory) : await makeOwned(paths.directory);
  for (const path of [paths.home, paths.scratchpad, paths.private, paths.hooks])
    await mkdir(path, { recursive: true, mode: 0o700 });
  return directory;
};

/** Writes the scripts of a set-up; answers them in the order in which they run. */
export const writeScripts = async (
  parts: ConductorParts,
  id: string,
  given: { readonly init: Uint8Array | null; readonly lines: readonly string[] },
): Promise<void> => {
  const paths = placePaths(parts, id);
  if (given.init !== null) await writeFile(paths.init, given.init, { mode: 0o600 });
  if (given.lines.length > 0) await writeFile(paths.setup, setupScript(given.lines), { mode: 0o600 });
};

/** A script that shows each line before it runs it, and ends at the first that fails. */
export const setupScript = (lines: readonly string[]): string =>
  ['set -e', ...lines.flatMap((line) => [`printf '%s\\n' '$ ${line.replaceAll("'", `'\\''`)}'`, line])].join('\n').concat('\n');

/** What an environment is opened with, each time it is started. */
export const namedSpec = (
  parts: ConductorParts,
  row: NamedRow,
  { prepared, ports }: { readonly prepared: NamedPrepared; readonly ports: NamedPorts },
): EnvironmentSpec => {
  const { place, settings } = prepared;
  const { home, scratchpad, directory } = placePaths(parts, row.id);
  const grant = (path: string, access: PathGrant['access']): PathGrant => ({
    path,
    access,
    scope: 'absolute',
    provenance: 'orrery',
    required: true,
  });
  return {
    id: row.id,
    taskId: row.id,
    workdir: place.path,
    home,
    scratchpad,
    keepsHome: true,
    ...(settings.memory.length === 0 ? {} : { memory: memoryPaths(directory).copy }),
    grants: [
      grant(place.path, 'rwx'),
      ...memoryGrants(directory, { kinds: settings.memory, readOnly: false }),
      ...place.reads.map((path) => grant(path, 'ro')),
    ],
    readOnly: place.readOnly,
    ports: { connect: [], bind: Object.values(ports), egress: settings.egress, named: ports },
    limits: limitsOf(settings, settings.wallMs),
    required: settings.required,
    brokerSocket: parts.brokerSocket,
    project: row.project_id,
    ...imageParts(settings),
    ...borrowsOf(place, prepared.baseSha),
  };
};
