// Glossary. A backend is a kind of place to run things; an environment is one open place (one checkout, hooks and agent
// alike); a handle is one running program of it. Contract: execution.

import type { Duplex } from 'node:stream';
import type { ImageBuild } from './image/build.ts';
import type {
  GuaranteeReport,
  InputState,
  KeeperGuarantee,
  KeeperIdentity,
  LimitName,
  OutputChunk,
  OutputStream,
  PathAccess,
} from '../keeper/types.ts';

/** One path an environment or a program of it may touch. */
export type PathGrant = {
  readonly path: string;
  readonly access: PathAccess;
  /** `home`: relative to where the agent keeps its state, resolved by the backend. */
  readonly scope: 'absolute' | 'home';
  /** `environment`: already there (/usr, /etc); `orrery`: must be brought (checkout, files). */
  readonly provenance: 'environment' | 'orrery';
  /** A missing required grant is an error; an optional one is skipped in silence. */
  readonly required: boolean;
};

/** TCP ports inside the environment and hosts behind the egress proxy (`host`, `*.host`, optional `:port`). */
export type PortGrant = {
  readonly connect: readonly number[];
  readonly bind: readonly number[];
  readonly egress: readonly string[];
  /** Ports that are this environment's own, by name: its programs find them as `ORRERY_PORT_<NAME>`. Absent: none. */
  readonly named?: Readonly<Record<string, number>>;
};

/** Bounds of one program. */
export type Limits = {
  readonly wallMs: number;
  readonly cpuSeconds?: number;
  readonly memoryBytes?: number;
  readonly processes?: number;
  readonly diskBytes?: number;
  readonly outputBytes: number;
};

/** One program to run in an environment. Names no mechanism. */
export type RunSpec = {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute, inside the environment. */
  readonly cwd: string;
  /** Beside the environment's own grants, for this program alone. */
  readonly grants: readonly PathGrant[];
  /** Values. The backend adds HOME, TMPDIR and PATH of the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Names only: they mean what they mean where the program runs. */
  readonly envPassthrough: readonly string[];
  /** Names in `env` whose values are secrets whatever they are called: never shown. Others are masked by their name and shape. */
  readonly secretNames?: readonly string[];
  readonly stdio: 'piped' | 'stream' | 'pty';
  /** Size of the terminal (`pty` only; default 80 × 24). */
  readonly terminal?: { readonly columns: number; readonly rows: number };
  readonly limits: Limits;
  /** For people and logs: `validation.sh`, `claude turn 2`. */
  readonly label: string;
  /** Journal id: names the keeper's directory, so that a restarted node finds the run again. Unique per environment. */
  readonly runId: string;
};

/** One script of the repository; the file is granted read-only and run by bash. */
export type ScriptSpec = {
  readonly path: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** As in `RunSpec`. */
  readonly secretNames?: readonly string[];
  readonly grants: readonly PathGrant[];
  readonly limits: Limits;
  readonly label: string;
  readonly runId: string;
};

/** How a program ended. */
export type RunEnd = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly limit: LimitName | null;
  readonly reason: string | null;
  readonly tookMs: number;
  readonly userMs: number;
  readonly systemMs: number;
  readonly maxRssBytes: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
};

/** Whether a program never began: its keeper was not told to go, as when a node dies in between. */
export const neverBegan = ({ reason }: Pick<RunEnd, 'reason'>): boolean => reason === 'go-timeout';

/** What an environment is opened with. */
export type EnvironmentSpec = {
  readonly id: string;
  readonly taskId: string;
  /** The checkout, folder or scratch directory; absolute, on this machine. */
  readonly workdir: string;
  /** Private home and temporary directory of this environment; made by the caller, live as long as it. */
  readonly home: string;
  readonly scratchpad: string;
  readonly grants: readonly PathGrant[];
  /** Inside writable grants, but read-only to programs where the backend can. */
  readonly readOnly: readonly string[];
  readonly ports: PortGrant;
  readonly limits: Limits;
  /** Guarantees without which nothing is started. */
  readonly required: readonly KeeperGuarantee[];
  /** Where the broker listens (Unix socket). */
  readonly brokerSocket: string;
  readonly project: string | null;
  readonly image: string | null;
  /** User that the project wants programs to be; only where the backend builds images. Absent: the image's own. */
  readonly user?: string;
  /** Values that the project gives every program; what the node sets wins. Absent: none. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Git objects that the checkout borrows: their folder (granted too) and the commits whose history it needs, its base first. Absent: it borrows none. */
  readonly borrows?: { readonly objects: string; readonly commits: readonly string[] };
  /** Whether the home outlives the environment, and has to be brought back like the working directory. */
  readonly keepsHome?: boolean;
  /** A folder below the home that is brought back when the environment is closed, if it can be. Absent: none. */
  readonly homeKeeps?: string;
  /** A granted folder that is brought back like the working directory, beside it. */
  readonly memory?: string;
};

/** One running program. Nothing in it says "process on this machine". */
export type Handle = {
  readonly id: string;
  readonly identity:
    | KeeperIdentity
    | { readonly containerId: string; readonly keeper?: KeeperIdentity }
    | { readonly podUid: string; readonly keeper?: KeeperIdentity }
    | { readonly host: string; readonly keeper?: KeeperIdentity };
  /** The program waits for this: call it after the identity is stored. Resolves also when it could not be executed: `wait` says so. */
  go(): Promise<void>;
  output(stream: OutputStream, fromOffset: number): AsyncIterable<OutputChunk>;
  write(id: string, bytes: Uint8Array): Promise<InputState>;
  closeInput(): Promise<void>;
  inputState(id: string): Promise<InputState>;
  resize(columns: number, rows: number): Promise<void>;
  wait(): Promise<RunEnd>;
  tryWait(): Promise<RunEnd | null>;
  terminate(): Promise<void>;
  /** Takes the whole tree; resolves when nothing of it is left. */
  kill(): Promise<void>;
  release(stream: OutputStream, offset: number): Promise<void>;
  /** The end is recorded: the keeper may go and its directory is settled. */
  finish(): Promise<void>;
  /** Drops this view; the program goes on. */
  detach(): void;
};

/** One open place. */
export type Environment = {
  readonly id: string;
  readonly backend: string;
  readonly guarantees: readonly GuaranteeReport[];
  /** Address of the broker as seen from inside, for example `http://127.0.0.1:7777`. */
  readonly brokerEndpoint: string;
  /** Nothing a previous task installed is here. */
  readonly freshEnvironment: boolean;
  /** A conversation of an earlier task can be resumed here. */
  readonly carriesAgentState: boolean;
  /** Paths as seen from inside. */
  readonly workdir: string;
  readonly home: string;
  readonly scratchpad: string;
  start(spec: RunSpec): Promise<Handle>;
  /** The handle of a run started earlier (by a node that died), or what is left of it. */
  reattach(runId: string): Promise<Handle | null>;
  /** Starts a script with bash; the caller drives the handle. */
  startScript(spec: ScriptSpec): Promise<Handle>;
  /** Carries a file in after opening (0600, replaced when it exists); answers its path inside. Only programs whose `grants` name that path can read it. */
  provide(name: string, content: Uint8Array): Promise<string>;
  /** What would really run, secrets masked. */
  describe(spec: RunSpec): string;
  /** The same for a script. */
  describeScript(spec: ScriptSpec): string;
  /**
   * A connection to a TCP port of loopback inside the environment. It ends at a program of this environment and never at
   * another's: where that cannot be made sure, nobody gets it. @throws OrreryError not_found when nothing of it listens there
   */
  forward(port: number): Promise<Duplex>;
  /** Null where the place does not say. Disk: of its files, as seen not long ago. */
  stats(): Promise<{ readonly processes: number | null; readonly memoryBytes: number | null; readonly diskBytes: number | null }>;
  /** Writes a file below the home, 0600, its folders too. The path is relative and stays below it. */
  writeHomeFile(path: string, content: string | Uint8Array): Promise<void>;
  /**
   * Makes the working directory of this machine what it is inside. Called when a program has ended and its work is to be
   * kept whatever becomes of the place; where both are one directory there is nothing to do.
   */
  sync(): Promise<void>;
  /** Ends every program of it, brings back what was done, and gives back what it holds. Idempotent. */
  close(): Promise<EnvironmentClosed>;
};

/** How an environment was closed: `lost` says in a sentence what could not be brought back, null when nothing is missing. */
export type EnvironmentClosed = { readonly lost: string | null };

/** What may not be pruned; both are asked after looking, so that what is made meanwhile is named. */
export type Pruning = {
  /** Environments that are open. */
  readonly live: () => Promise<readonly string[]>;
  /** Those too that are opened again one day. */
  readonly known: () => Promise<readonly string[]>;
  /** Only says what would go. */
  readonly dryRun: boolean;
};

/** A kind of place, configured. */
export type Backend = {
  readonly name: string;
  readonly exposure: { readonly kind: 'loopback' } | { readonly kind: 'network'; readonly bind: string };
  /** Guarantees as probed on this machine. */
  guarantees(): Promise<readonly GuaranteeReport[]>;
  /** What it cannot stop, in plain words. */
  readonly cannotStop: readonly string[];
  /**
   * Whether read-only paths inside a checkout hold against its programs (default true). Where they do not, nothing that lies
   * there afterwards is run or read by the node, as everywhere, and people are told.
   */
  readonly protectsPaths?: boolean;
  /** The guarantees a task requires here when nobody said otherwise. */
  readonly defaultRequired: readonly KeeperGuarantee[];
  /** One line that says what is missing and how to get it, as an error; runs before the checkout and any token. */
  preflight(required: readonly KeeperGuarantee[]): Promise<void>;
  /** What it is here, in a few words, beside its name: `Podman 4.3.1, rootless`. Absent: nothing more. */
  about?(): Promise<string>;
  /** Whether its environments are made from images, so that one can be asked for. Absent: no. */
  readonly takesImages?: boolean;
  /** Builds images out of a repository. Absent where none are. */
  readonly images?: { build(build: ImageBuild, progress: (line: string) => void): Promise<string> };
  open(spec: EnvironmentSpec): Promise<Environment>;
  /** An environment opened by a node that died, for re-attaching or closing. */
  reopen(spec: EnvironmentSpec): Promise<Environment>;
  /** Finds and settles what a dead node left and nobody names in `live` (environment ids). Answers what it ended. */
  reclaim(live: readonly string[]): Promise<readonly string[]>;
  /** Lets go of every environment it has open, so that this process can end; programs run on. Absent where nothing is held. */
  detach?(): void;
  /**
   * Removes whatever this installation has where it is asked for and `live` does not name, recorded or not, and files that it
   * keeps for environments which nobody knows. Absent where nothing can be there that `reclaim` does not find.
   */
  prune?(pruning: Pruning): Promise<readonly string[]>;
  /** Removes files that are kept for an environment which was closed and is not opened again. Absent where none are kept. */
  discard?(environmentId: string): Promise<void>;
};

/** Makes a backend from `execution.options.<name>`; a wrong key is an error that names it. */
export type BackendFactory = {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  make(options: unknown): Backend;
};
