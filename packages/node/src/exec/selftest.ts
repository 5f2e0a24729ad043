// What a program tries from inside an environment, and what came of it: the rows of `orrery selftest sandbox`.
import { OrreryError } from '@orrery/protocol/errors';
import { findEscapeBinary } from '../keeper/binary.ts';
import type { Backend, Environment, PathGrant, RunSpec } from './backend.ts';
import { setSelftestPlace } from './selftest-place.ts';
import type { SelftestPlace } from './selftest-place.ts';

/** One attempt: what must happen, what happened, and by which error of the system. */
export type SelftestAttempt = {
  readonly name: string;
  readonly expected: 'allowed' | 'denied';
  readonly seen: 'allowed' | 'denied';
  /** Number of the system's error, 0 when it was allowed, null when there is none to tell. */
  readonly errno: number | null;
  readonly ok: boolean;
};

/** A path of this machine that must be closed inside, by a name for people: the data directory, the user's home. */
export type ClosedPath = { readonly name: string; readonly path: string };

/** What a self-test needs. */
export type SelftestOptions = {
  readonly backend: Backend;
  /** An empty directory that the caller made and removes afterwards; not below /usr, /opt or another place that is granted. */
  readonly directory: string;
  readonly closed: readonly ClosedPath[];
  /** The program that tries; default the one that was built or shipped beside the keeper. */
  readonly escapeProgram?: string;
};

/** What works inside every wall: a program needs it, and it reaches nobody outside. */
const HARMLESS = ['inside-write', 'inside-rename', 'socketpair', 'netlink-route', 'own-server', 'shm'];
/** What the program tries at the least; fewer lines mean that it was not the right program or did not get through. */
const LEAST_ATTEMPTS = 60;

/** What depends on the place where a backend holds no read-only paths: these stay inside it in either case, and who listens outside hears nothing. */
const isOfPlace = (name: string): boolean => name.startsWith('readonly-') || ['shm', 'udp-v4'].includes(name);

const attempt = (name: string, seen: 'allowed' | 'denied', errno: number | null): SelftestAttempt => {
  const expected = HARMLESS.includes(name) ? 'allowed' : 'denied';
  return { name, expected, seen, errno, ok: seen === expected };
};

/** A row that proves nothing against a backend which does not promise it. */
const asOfPlace = (row: SelftestAttempt): SelftestAttempt =>
  isOfPlace(row.name) ? { ...row, expected: row.seen, ok: true } : row;

const parseLines = (text: string): SelftestAttempt[] =>
  text.split('\n').flatMap((line) => {
    const found = /^(\S+) (allowed|denied) (\d+)$/.exec(line);
    return found === null ? [] : [attempt(found[1]!, found[2] as 'allowed' | 'denied', Number(found[3]))];
  });

const runToEnd = async (environment: Environment, run: RunSpec): Promise<string> => {
  const handle = await environment.start(run);
  await handle.go();
  const parts: Uint8Array[] = [];
  for await (const { bytes } of handle.output('stdout', 0)) parts.push(bytes);
  const end = await handle.wait();
  await handle.finish();
  if (end.exitCode === 0) return Buffer.concat(parts).toString('utf8');
  throw new OrreryError(
    'backend_unavailable',
    `${run.label} did not come to its end inside (${end.reason ?? end.signal ?? `exit ${end.exitCode}`}).`,
    { rule: 'What is not tried is not claimed.' },
  );
};

const tryEscape = async (environment: Environment, place: SelftestPlace, program: string): Promise<SelftestAttempt[]> => {
  const grant: PathGrant = { path: program, access: 'rox', scope: 'absolute', provenance: 'orrery', required: true };
  const { workdir, limits } = place.environment;
  const args = [place.secret, String(process.pid), place.socket, String(place.port), place.abstractName, workdir];
  const run: RunSpec = {
    command: program,
    args,
    cwd: workdir,
    grants: [grant],
    env: {},
    envPassthrough: [],
    stdio: 'piped',
    limits,
    label: 'escape',
    runId: 'escape',
  };
  const attempts = parseLines(await runToEnd(environment, run));
  if (attempts.length >= LEAST_ATTEMPTS) return attempts;
  throw new OrreryError('backend_unavailable', `Only ${attempts.length} attempts were made inside.`, {
    rule: 'What is not tried is not claimed.',
  });
};

/** Paths come as arguments of the shell, never as text of its script. */
const LOOK =
  'for path; do if [ -d "$path" ]; then ls -A -- "$path/"; else head -c 1 -- "$path"; fi >/dev/null 2>&1 && echo allowed || echo denied; done';

const tryClosed = async (
  environment: Environment,
  place: SelftestPlace,
  closed: readonly ClosedPath[],
): Promise<SelftestAttempt[]> => {
  const { workdir, limits } = place.environment;
  const args = ['-c', LOOK, 'sh', ...closed.map(({ path }) => path)];
  const run: RunSpec = {
    command: 'sh',
    args,
    cwd: workdir,
    grants: [],
    env: {},
    envPassthrough: [],
    stdio: 'piped',
    limits,
    label: 'look',
    runId: 'look',
  };
  const answers = (await runToEnd(environment, run)).trim().split('\n');
  return closed.map(({ name }, at) => attempt(`path-${name}`, answers[at] === 'denied' ? 'denied' : 'allowed', null));
};

/** The attempts are real: without any wall they would mount, rename and delete on this machine. */
const refuseWithoutWalls = async (backend: Backend): Promise<void> => {
  if ((await backend.guarantees()).some(({ guarantee, held }) => guarantee === 'files' && held)) return;
  throw new OrreryError('guarantee_missing', `${backend.name} confines nothing here, so there is nothing to test.`, {
    rule: 'Attempts to get out are made from behind walls only: they are real.',
    fix: 'Test a backend that confines: orrery selftest sandbox --backend sandbox',
  });
};

/**
 * Opens an environment of `backend`, tries everything that must be denied from inside it, and answers row by row. Rejects
 * when something could not be tried (a test that tries nothing proves nothing), and for a backend that confines nothing.
 */
export const selftestBackend = async ({
  backend,
  directory,
  closed,
  escapeProgram,
}: SelftestOptions): Promise<readonly SelftestAttempt[]> => {
  await refuseWithoutWalls(backend);
  const program = findEscapeBinary({ explicit: escapeProgram });
  const place = await setSelftestPlace(directory);
  try {
    const environment = await backend.open(place.environment);
    try {
      const attempts = [...(await tryEscape(environment, place, program)), ...(await tryClosed(environment, place, closed))];
      const rows = backend.protectsPaths === false ? attempts.map(asOfPlace) : attempts;
      return [...rows, attempt('listener-heard', place.heard() === 0 ? 'denied' : 'allowed', null)];
    } finally {
      await environment.close();
    }
  } finally {
    await place.close();
  }
};
