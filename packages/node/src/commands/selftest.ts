import { existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DoctorReport } from '@orrery/protocol';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { loadConfig } from '../config/config.ts';
import type { NodePaths } from '../config/paths.ts';
import type { Backend, BackendFactory } from '../exec/backend.ts';
import { probeLeaks, type Leak } from '../exec/leaks.ts';
import { createBackendFactories, resolveBackend } from '../exec/registry.ts';
import { selftestBackend, type SelftestAttempt } from '../exec/selftest.ts';
import { makeTemporary } from '../files/own.ts';
import { createRemover } from '../files/remove.ts';
import { createGit } from '../git/run.ts';
import { findKeeperBinary } from '../keeper/binary.ts';
import { createKeeperClient } from '../keeper/client.ts';
import { directSpawner } from '../kernel/spawner.ts';
import type { KeeperClient } from '../keeper/types.ts';
import type { Verb } from './verb.ts';

type Line = DoctorReport['lines'][number];

const say = (line: Line): void => void process.stdout.write(`${JSON.stringify({ line })}\n`);

/** `selftest sandbox` tries the walls from inside; `selftest leaks` searches for planted secrets. One line for each find. */
export const selftest: Verb = async ({ paths, values, positionals }) => {
  const [kind] = positionals;
  if (kind !== 'sandbox' && kind !== 'leaks') {
    throw new OrreryError('unknown_command', `There is no "selftest ${kind ?? ''}".`, {
      rule: 'It is sandbox or leaks.',
      fix: 'orrery selftest sandbox',
    });
  }
  const named = typeof values['backend'] === 'string' ? values['backend'] : null;
  return withPlace(async (place) => {
    const tools = await openTools(paths, place);
    if (kind === 'sandbox') return { result: await trySandbox(tools, named ?? 'sandbox') };
    const names = named === null ? await usable(tools) : [named];
    const reports = [];
    for (const name of names) reports.push(await tryLeaks(tools, name));
    return { result: { backends: reports } };
  });
};

/** A folder of the test's own, taken away at the end by the one deletion path. */
const withPlace = async <T>(work: (place: string) => Promise<T>): Promise<T> => {
  const root = existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
  const owned = await makeTemporary(root, 'orrery-selftest-');
  const remover = createRemover({
    root,
    trash: join(root, `.orrery-selftest-trash-${process.getuid?.() ?? 0}`),
    protectedPaths: async () => [],
    onFailure: () => undefined,
  });
  try {
    return await work(owned.path);
  } finally {
    await remover.remove(owned);
    await remover.settled();
  }
};

type Tools = {
  readonly paths: NodePaths;
  readonly place: string;
  readonly stateDir: string;
  readonly keeper: KeeperClient;
  readonly factories: readonly BackendFactory[];
  backend(name: string): Backend;
};

const openTools = async (paths: NodePaths, place: string): Promise<Tools> => {
  const config = await loadConfig({ file: paths.configFile, env: process.env });
  const keeper = createKeeperClient({ binary: () => findKeeperBinary({ explicit: process.env['ORRERY_KEEPER'] }) });
  const stateDir = join(place, 'state');
  const factories = createBackendFactories({
    keeper,
    stateDir,
    protectedPaths: [paths.data, paths.config],
    variables: process.env,
    elsewhere: {
      installation: `selftest-${process.pid}`,
      git: createGit(),
      spawner: directSpawner,
      keeperProgram: process.env['ORRERY_KEEPER'],
      mountable: [],
    },
  });
  const backend = (name: string): Backend =>
    resolveBackend(factories, { name, options: config.current().execution.options[name] ?? {}, allowed: null });
  return { paths, place, stateDir, keeper, factories, backend };
};

/** The backends that can run here; of each of the others one line says why it is not tried. */
const usable = async ({ factories, backend }: Tools): Promise<string[]> => {
  const names: string[] = [];
  for (const { name } of factories) {
    try {
      await backend(name).preflight([]);
      names.push(name);
    } catch (thrown) {
      const { message, fix } = toOrreryError(thrown);
      say({ area: `backend ${name}`, state: 'warning', message: `not tried: ${message}`, fix });
    }
  }
  return names;
};

/** Places of this machine that must be closed; one that lies around the test's own folder cannot be tried. */
const closedPlaces = ({ paths, place }: Tools): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ data: paths.data, configuration: paths.config, home: homedir() }).filter(
      ([, path]) => existsSync(path) && !`${place}/`.startsWith(`${path}/`),
    ),
  );

const trySandbox = async (tools: Tools, name: string): Promise<{ backend: string; attempts: readonly SelftestAttempt[] }> => {
  const backend = tools.backend(name);
  for (const { guarantee, held, by, missing } of await backend.guarantees()) {
    say({
      area: `guarantee ${guarantee}`,
      state: held ? 'ok' : 'warning',
      message: held ? `held by ${by}` : `not held: ${missing ?? 'this machine cannot give it'}`,
      fix: null,
    });
  }
  await backend.preflight(backend.defaultRequired);
  const closed = Object.entries(closedPlaces(tools)).map(([what, path]) => ({ name: what, path }));
  const attempts = await selftestBackend({ backend, directory: tools.place, closed });
  for (const { name: what, expected, seen, ok } of attempts) {
    say({
      area: what,
      state: ok ? 'ok' : 'problem',
      message: ok ? seen : `${seen}, but it must be ${expected}`,
      fix: ok ? null : 'Do not rely on this backend here; report it as SECURITY.md says.',
    });
  }
  return { backend: backend.name, attempts };
};

const tryLeaks = async (
  tools: Tools,
  name: string,
): Promise<{ backend: string; leaks: readonly Leak[]; planted: readonly string[]; looked: Readonly<Record<string, number>> }> => {
  const backend = tools.backend(name);
  const directory = (await makeTemporary(tools.place, `${backend.name}-`)).path;
  const places = closedPlaces(tools);
  const report = await probeLeaks({
    backend,
    keeper: tools.keeper,
    directory,
    plantIn: places,
    roots: Object.values(places),
    stateDir: tools.stateDir,
  });
  const area = `backend ${backend.name}`;
  for (const leak of report.leaks) {
    say({
      area,
      state: leak.promised ? 'problem' : 'warning',
      message: `the ${leak.canary} secret shows in ${leak.where} (${leak.at}, ${leak.form})${leak.promised ? '' : '; this backend does not promise to hide it'}`,
      fix: leak.promised ? 'Do not rely on this backend here; report it as SECURITY.md says.' : null,
    });
  }
  const looked = Object.entries(report.looked).map(([what, count]) => `${count} ${what}`);
  say({ area, state: 'ok', message: `planted ${report.planted.length} secrets, looked at ${looked.join(', ')}`, fix: null });
  return { backend: backend.name, ...report };
};
