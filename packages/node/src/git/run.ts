// Glossary. The runner is the one place of the node that starts Git. A profile says whose configuration counts: `node`
// for directories that only the node writes (no system, global or user configuration at all), `user` for the user's own
// repositories and for fetches that need the user's credentials.
import { statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { GIT_MEMORY_BYTES, GIT_OUTPUT_BYTES, GIT_READ_MS, GIT_STDERR_BYTES } from '../kernel/limits.ts';
import { directSpawner, type CommandEnding, type Spawner, type StartedCommand } from '../kernel/spawner.ts';
import { hideCredentials } from './redact.ts';
import { settingsOf } from './settings.ts';

/** Transports a command may use. Nothing else ever, above all not `ext`. */
export type GitProtocol = 'file' | 'https' | 'ssh';

/** One Git command. Paths are absolute. */
export type GitCall = {
  readonly args: readonly string[];
  /** Settings of this command, `key=value`; the runner's own win. */
  readonly settings?: readonly string[];
  readonly cwd?: string;
  /** Whose configuration counts. Default `node`. */
  readonly profile?: 'node' | 'user';
  readonly gitDir?: string;
  readonly workTree?: string;
  readonly indexFile?: string;
  /** Where new objects are written; what is there is read too. */
  readonly objectDirectory?: string;
  /** Object directories that are read beside it. */
  readonly alternates?: readonly string[];
  readonly protocols?: readonly GitProtocol[];
  /** Takes no lock that is not needed. Default true; commands that write say false. */
  readonly readOnly?: boolean;
  readonly input?: string | Uint8Array;
  /** Author and committer of commits made by this command. */
  readonly identity?: { readonly name: string; readonly email: string };
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  /** Cut the output at the bound (of bytes, or where its memory ended) and end the command in peace, instead of failing. */
  readonly truncate?: boolean;
  /** Exit codes that are answers, not failures. Default [0]. */
  readonly okCodes?: readonly number[];
  readonly signal?: AbortSignal;
};

/** What a command answered. */
export type GitAnswer = { readonly code: number; readonly stdout: Buffer; readonly stderr: string; readonly truncated: boolean };

/** The runner, as what collaborators take. */
export type Git = {
  /**
   * Runs one command without a shell. Rejects with `git_failed` (no credentials in its text) when the exit code is not
   * among `okCodes`, the time is over or the answer is larger than its bound; `git_failed` too when there is no Git.
   */
  run(call: GitCall): Promise<GitAnswer>;
  /** The answer as text without its last newline. */
  text(call: GitCall): Promise<string>;
  /** Runs two commands, the first's stdout being the second's stdin; both must succeed. */
  pipe(from: GitCall, to: GitCall): Promise<GitAnswer>;
};

/** Names of the node's own environment that a Git child may see; everything else is left out, above all each `GIT_*`. */
const passedNames: Record<'node' | 'user', readonly string[]> = {
  node: ['PATH', 'TMPDIR', 'SYSTEMROOT'],
  user: [
    'PATH',
    'TMPDIR',
    'HOME',
    'USER',
    'LOGNAME',
    'XDG_CONFIG_HOME',
    'XDG_RUNTIME_DIR',
    'SSH_AUTH_SOCK',
    'GNUPGHOME',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
    'HTTPS_PROXY',
    'https_proxy',
    'NO_PROXY',
    'no_proxy',
  ],
};

/** The environment of a Git child. Pure, so that a test can show what is in it. */
export const gitEnvironment = (call: GitCall, own: NodeJS.ProcessEnv): Record<string, string> => {
  const profile = call.profile ?? 'node';
  const env: Record<string, string> = {};
  for (const name of passedNames[profile]) {
    const value = own[name];
    if (value !== undefined) env[name] = value;
  }
  Object.assign(env, {
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'false',
    SSH_ASKPASS: 'false',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    GIT_EDITOR: 'false',
    GIT_PAGER: 'cat',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_LITERAL_PATHSPECS: '1',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_ALLOW_PROTOCOL: (call.protocols ?? ['file']).join(':'),
  });
  if (profile === 'node') Object.assign(env, { HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' });
  if (call.readOnly !== false) env['GIT_OPTIONAL_LOCKS'] = '0';
  if (call.gitDir !== undefined) env['GIT_DIR'] = call.gitDir;
  if (call.workTree !== undefined) env['GIT_WORK_TREE'] = call.workTree;
  if (call.indexFile !== undefined) env['GIT_INDEX_FILE'] = call.indexFile;
  if (call.objectDirectory !== undefined) env['GIT_OBJECT_DIRECTORY'] = call.objectDirectory;
  if (call.alternates !== undefined) env['GIT_ALTERNATE_OBJECT_DIRECTORIES'] = call.alternates.map(quoteAlternate).join(':');
  if (call.identity !== undefined) {
    const { name, email } = call.identity;
    Object.assign(env, { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email });
  }
  return env;
};

/** A path with a colon would be two. */
const quoteAlternate = (path: string): string => (/[:"\\]/.test(path) ? `"${path.replace(/["\\]/g, '\\$&')}"` : path);

/** The arguments of a Git child, settings first. */
export const gitArguments = (call: GitCall): string[] => [
  ...settingsOf(call).flatMap((setting) => ['-c', setting]),
  ...call.args,
];

/** The program's own path, looked up once: each start would try every folder of PATH again. Itself where it is not found. */
const findProgram = (program: string, path: string | undefined): string => {
  if (program.includes('/')) return program;
  const places = (path ?? '')
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, program));
  return places.find((place) => statSync(place, { throwIfNoEntry: false })?.isFile() === true) ?? program;
};

/** Makes the runner. `program`, the environment and what starts it are arguments, so that tests own them. */
export const createGit = ({
  program = 'git',
  environment = process.env,
  spawner = directSpawner,
  memoryBytes = GIT_MEMORY_BYTES,
}: { program?: string; environment?: NodeJS.ProcessEnv; spawner?: Spawner; memoryBytes?: number } = {}): Git => {
  const found = findProgram(program, environment['PATH']);
  const start = (call: GitCall, input: boolean): StartedCommand =>
    // A session of its own: no terminal to prompt on, and one group to end when the time is over.
    spawner.start({
      program: found,
      args: gitArguments(call),
      cwd: call.cwd ?? '/',
      environment: gitEnvironment(call, environment),
      // What is no repository of the user's may be of an agent's making.
      memoryBytes: call.profile === 'user' ? undefined : memoryBytes,
      input,
      stderr: true,
    });
  const startFed = (call: GitCall): StartedCommand => {
    const input = call.input ?? '';
    const command = start(call, input.length > 0);
    command.stdin?.end(input);
    return command;
  };
  const run = async (call: GitCall): Promise<GitAnswer> => settle(call, await watch(call, startFed(call)));
  return {
    run,
    text: async (call) => (await run(call)).stdout.toString('utf8').replace(/\n$/, ''),
    pipe: async (from, to) => {
      const source = startFed(from);
      const target = start(to, true);
      // A reader that ended early must not leave the writer waiting for room.
      target.stdin?.on('error', () => source.stdout.resume());
      void target.ended.then((ending) => {
        if (ending.kind !== 'exited' || ending.code !== 0) source.endGroup();
      });
      if (target.stdin !== null) source.stdout.pipe(target.stdin);
      const [first, second] = await Promise.all([watch(from, source, false), watch(to, target)]);
      // Whoever ran out of memory is the reason; the other one only lost its partner.
      if (isOutOfMemory(from, first)) settle(from, first);
      const answer = settle(to, second);
      settle(from, first);
      return answer;
    },
  };
};

/** The runner for work that may be broken off: its commands are ended, and rejected, once `signal` is aborted. */
export const endingWith = (git: Git, signal: AbortSignal): Git => ({
  run: (call) => git.run({ signal, ...call }),
  text: (call) => git.text({ signal, ...call }),
  pipe: (from, to) => git.pipe({ signal, ...from }, { signal, ...to }),
});

type Problem = 'timeout' | 'too_large' | 'not_started' | 'aborted' | null;
type Watched = GitAnswer & { readonly problem: Problem; readonly lost: OrreryError | null };

const watch = async (call: GitCall, command: StartedCommand, keepOutput = true): Promise<Watched> => {
  const bound = call.maxOutputBytes ?? GIT_OUTPUT_BYTES;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let stderr = '';
  let truncated = false;
  let problem: Problem = null;
  const end = (why: Problem): void => {
    problem ??= why;
    command.endGroup();
  };
  const timer = setTimeout(() => end('timeout'), call.timeoutMs ?? GIT_READ_MS);
  const onAbort = (): void => end('aborted');
  if (call.signal?.aborted === true) onAbort();
  call.signal?.addEventListener('abort', onAbort, { once: true });
  if (keepOutput) {
    command.stdout.on('data', (chunk: Buffer) => {
      if (truncated) return;
      const room = bound - bytes;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      bytes += Math.min(chunk.length, room);
      if (chunk.length <= room) return;
      truncated = true;
      end(call.truncate === true ? null : 'too_large');
    });
  }
  command.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString('utf8')).slice(-GIT_STDERR_BYTES)));
  const ending: CommandEnding = await command.ended;
  clearTimeout(timer);
  call.signal?.removeEventListener('abort', onAbort);
  if (ending.kind === 'not_started') problem ??= 'not_started';
  return {
    code: ending.kind === 'exited' ? (ending.code ?? -1) : -1,
    stdout: Buffer.concat(chunks),
    stderr: hideCredentials(stderr).trim(),
    truncated,
    problem,
    lost: ending.kind === 'lost' ? ending.cause : null,
  };
};

const settle = (call: GitCall, { problem, lost, ...answer }: Watched): GitAnswer => {
  if (lost !== null) throw lost;
  if (problem === null && answer.truncated) return { ...answer, code: 0 };
  if (call.truncate === true && isOutOfMemory(call, { ...answer, problem })) return { ...answer, code: 0, truncated: true };
  if (problem === null && (call.okCodes ?? [0]).includes(answer.code)) return answer;
  const command = `git ${call.args.find((arg) => !arg.startsWith('-')) ?? ''}`.trim();
  const what: Record<Exclude<Problem, null>, string> = {
    timeout: `${command} took longer than ${Math.round((call.timeoutMs ?? GIT_READ_MS) / 1000)} s and was ended.`,
    too_large: `${command} answered more than ${call.maxOutputBytes ?? GIT_OUTPUT_BYTES} bytes.`,
    not_started: `${command} could not be started.`,
    aborted: `${command} was ended because the work it was for was cancelled.`,
  };
  const lastLine =
    answer.stderr.split('\n').findLast((line) => /^(fatal|error):/.test(line)) ?? answer.stderr.split('\n').at(-1) ?? '';
  if (isOutOfMemory(call, { ...answer, problem })) throw tooMuchMemory(command, answer.stderr);
  throw new OrreryError(
    'git_failed',
    problem === null ? `${command} failed: ${lastLine === '' ? `exit code ${answer.code}` : lastLine}` : what[problem],
    {
      fix: problem === 'not_started' ? 'Install Git 2.38 or newer and make sure that it is on the PATH of the node.' : undefined,
      details: { command, exitCode: answer.code, stderr: answer.stderr.slice(-2000), problem },
    },
  );
};

/** What Git and the zlib in it say when they are refused memory. */
const outOfMemory = /out of memory|malloc failed|mmap failed|cannot allocate memory|unable to create threaded/i;

const isOutOfMemory = (call: GitCall, { problem, code, stderr }: Pick<Watched, 'problem' | 'code' | 'stderr'>): boolean =>
  problem === null && code !== 0 && call.profile !== 'user' && outOfMemory.test(stderr);

const tooMuchMemory = (command: string, stderr: string): OrreryError =>
  new OrreryError('git_limit', `${command} needed more memory than one may have.`, {
    rule: `An object that Git has to hold whole (a tree, a commit, a delta) must fit ${GIT_MEMORY_BYTES / 1_048_576} MiB.`,
    fix: 'Commit large files as files; look for an object that is small in the pack and huge when it is unpacked.',
    details: { command, stderr: stderr.slice(-2000), problem: 'memory' },
  });

/** The end of what a failed command said on stderr, without credentials; empty for any other error. */
export const stderrOf = (thrown: unknown): string => {
  const said = thrown instanceof OrreryError ? thrown.details?.['stderr'] : undefined;
  return typeof said === 'string' ? said : '';
};
