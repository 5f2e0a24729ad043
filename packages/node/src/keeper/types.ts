// Glossary. A keeper is the small native process that holds one run of one program. Its directory (DIR) holds its
// spec, spools, input journal, status and exit record. A connection is only a view: dropping it changes nothing.

import type { Duplex } from 'node:stream';

/** What may be done below a path: r read, w write and create, x execute. */
export type PathAccess = 'ro' | 'rox' | 'rw' | 'rwx';

/** One path the program may touch; everything that no rule names is denied. Absolute and existing. */
export type PathRule = { readonly path: string; readonly access: PathAccess };

/** What a keeper can be asked to guarantee; reported one by one in DIR/guarantees. */
export type KeeperGuarantee = 'files' | 'network' | 'hosts' | 'processes' | 'signals' | 'limits';

/** How the program is fenced in. */
export type Confinement = {
  /** Landlock allow list. */
  readonly files: readonly PathRule[];
  /** Paths inside a writable rule that become read-only (needs a mount namespace; missing ones are skipped). */
  readonly readOnly: readonly string[];
  /** `none`: own network namespace with loopback only, so that the front is the only way out. */
  readonly network: 'none' | 'host';
  /** Own pid, ipc and mount namespaces (own /proc), and Landlock's signal and socket scopes. */
  readonly processes: boolean;
  /** Allow AF_UNIX sockets inside (default false). */
  readonly unixSockets: boolean;
  /**
   * Program (absolute) and arguments that build the namespaces and mounts instead of the keeper; needs network `none` and
   * own processes. It passes inherited descriptors on and executes `/proc/self/fd/100 inside` as the first process there.
   */
  readonly wrapper?: readonly string[];
};

/** Bounds of one run. Absent means: no bound of that kind. */
export type KeeperLimits = {
  readonly wallMs?: number;
  readonly cpuSeconds?: number;
  readonly memoryBytes?: number;
  readonly processes?: number;
  /** Largest single file the program may write. */
  readonly fileBytes?: number;
  /** Output in total (both streams); past it the run ends with limit `output`. */
  readonly outputBytes: number;
  /** Unread spool bytes per stream at which the keeper stops reading and the program blocks. */
  readonly spoolWindowBytes: number;
};

/** The loopback port inside the run whose connections go to `target` (a Unix socket path of the node). */
export type KeeperFront = {
  readonly port: number;
  readonly target: string;
  /** How long a new connection waits for an absent node, ms. */
  readonly holdMs: number;
  /** How many connections may wait. */
  readonly holdMax: number;
};

/** What a keeper runs. Never holds a secret outside `env`, which travels in a file that is deleted after reading. */
export type KeeperSpec = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** piped: stdin is empty · stream: stdin stays open for `write` · pty: a terminal (one stream, stdout). */
  readonly stdio: 'piped' | 'stream' | 'pty';
  readonly terminal?: { readonly columns: number; readonly rows: number };
  /** null: no confinement at all (backend `local`). */
  readonly confinement: Confinement | null;
  readonly limits: KeeperLimits;
  readonly front: KeeperFront | null;
  /** Missing ones stop the start: exit record with reason `guarantee:<name>`. */
  readonly required: readonly KeeperGuarantee[];
  /** The keeper ends without having started anything when it hears no `go` in this time. */
  readonly goTimeoutMs: number;
  /** After the program's end the keeper waits this long for `finish`. */
  readonly releaseTimeoutMs: number;
};

/** Identity of a keeper process: a pid alone is never trusted. */
export type KeeperIdentity = { readonly pid: number; readonly startTicks: number; readonly bootId: string };

/** How far one guarantee was reached and by what. */
export type GuaranteeReport = {
  readonly guarantee: KeeperGuarantee;
  readonly held: boolean;
  readonly by: string;
  readonly missing: string | null;
};

/** Which bound ended a run. */
export type LimitName = 'wall' | 'cpu' | 'memory' | 'processes' | 'file' | 'output';

/** How a run ended; durable in DIR/exit before anybody is told. */
export type ExitRecord = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly limit: LimitName | null;
  /** Why nothing ran or why the keeper ended the run itself; null when the program ended by itself. */
  readonly reason: string | null;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number;
  readonly userMs: number;
  readonly systemMs: number;
  readonly maxRssBytes: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
};

/** What happened to one input: told apart after any crash. */
export type InputState =
  | { readonly state: 'unwritten' }
  | { readonly state: 'partial'; readonly bytes: number }
  | { readonly state: 'written' };

export type OutputStream = 'stdout' | 'stderr';

/** A piece of output and where it starts in its stream. */
export type OutputChunk = { readonly offset: number; readonly bytes: Uint8Array };

/** Where a run is: `waiting` for go, `running`, `ending` (the program ended, the rest of its tree not yet), `ended`. */
export type KeeperStatus = {
  readonly state: 'waiting' | 'running' | 'ending' | 'ended';
  /** Final when the state is `ended`. */
  readonly exit: ExitRecord | null;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
};

/** A view of one live keeper. When the keeper dies, what waits for it rejects with `keeper_lost`; nothing hangs. */
export type KeeperConnection = {
  readonly dir: string;
  readonly identity: KeeperIdentity;
  readonly guarantees: readonly GuaranteeReport[];
  /**
   * Starts the program; call after the identity is stored. Idempotent. Resolves also when the program could not be
   * executed or the run was over before: `wait` says so (`reason` `exec:ENOENT`, `go-timeout` …).
   */
  go(): Promise<void>;
  status(): Promise<KeeperStatus>;
  /** Output from an offset until the end of the stream; waits for more while the program lives. Back-pressured. */
  output(stream: OutputStream, fromOffset: number): AsyncIterable<OutputChunk>;
  /** Writes input once per id (journal: intent before, done after). Same id again: no second write. */
  write(id: string, bytes: Uint8Array): Promise<InputState>;
  /** Closes the program's stdin after everything written. */
  closeInput(): Promise<void>;
  inputState(id: string): Promise<InputState>;
  resize(columns: number, rows: number): Promise<void>;
  signal(name: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGUSR1' | 'SIGUSR2' | 'SIGWINCH'): Promise<void>;
  /** Asks the program to end (SIGTERM). Resolves also when it has ended. */
  terminate(): Promise<void>;
  /** Ends the whole tree, without asking. Resolves when nothing of it is left; a keeper that does not answer is ended itself. */
  kill(): Promise<void>;
  wait(): Promise<ExitRecord>;
  /** Output below `offset` has been taken over durably and may be trimmed. */
  release(stream: OutputStream, offset: number): Promise<void>;
  /** The end was recorded by the node: the keeper may go. */
  finish(): Promise<void>;
  /**
   * A pipe to what listens on that port of loopback as the program sees it; null when nothing does or the program has
   * ended. It ends by itself: closing this view leaves it.
   */
  reach(port: number): Promise<Duplex | null>;
  /** Drops this view; the keeper and the program go on. */
  close(): void;
};

/** What the node's journal and the directory say about a keeper that may be gone. */
export type KeeperRemains = {
  readonly exit: ExitRecord | null;
  readonly identity: KeeperIdentity | null;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
};

/** The node's door to keepers. */
export type KeeperClient = {
  /** Starts a keeper in `dir` (created 0700); the program waits for `go`. Rejects with the reason when a required guarantee is missing. */
  launch(dir: string, spec: KeeperSpec): Promise<KeeperConnection>;
  /** A view of the keeper of `dir` if it lives and its identity matches, else null. */
  adopt(dir: string): Promise<KeeperConnection | null>;
  /** What is left in `dir`, read from files alone (keeper dead or finished). */
  remains(dir: string): Promise<KeeperRemains>;
  /** Spooled output of a dead or live keeper, from its files. */
  readSpool(dir: string, stream: OutputStream, fromOffset: number): AsyncIterable<OutputChunk>;
  inputState(dir: string, id: string): Promise<InputState>;
  /** Probes this machine: what a confined run would get. */
  probe(): Promise<readonly GuaranteeReport[]>;
  /** Ends the program of `dir` with its tree and its keeper, whatever state they are in. Resolves when the keeper is gone; also when there is none. */
  end(dir: string): Promise<void>;
  /** Removes what a keeper that is gone left. Refuses while it lives, and when something foreign is in `dir`. */
  remove(dir: string): Promise<void>;
};
