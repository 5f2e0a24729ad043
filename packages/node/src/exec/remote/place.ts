// Glossary. A place is somewhere else where commands can be run: a container, a pod, a host. What a place cannot do by
// itself (hold programs, streams, limits, staging, the broker's way in) the foundation does in it through the keeper program.
import type { Duplex, Readable } from 'node:stream';
import type { ImageBuild } from '../image/build.ts';
import type { GuaranteeReport, KeeperGuarantee } from '../../keeper/types.ts';

/** A command in a place. Its streams are binary and back-pressured. Nothing secret is ever in `argv`. */
export type PlaceCommand = {
  /** The first is an absolute path or a name that the place's PATH finds. */
  readonly argv: readonly string[];
  /** Fed to its stdin, which is then closed; absent: stdin is closed at once; 'open': the caller writes `stdio`. */
  readonly stdin?: Uint8Array | Readable | 'open';
  /** Ended after this time; null for commands that go on (attach, relay). */
  readonly timeoutMs: number | null;
};

/** A running command. Dropping it (`close`) ends the view; a keeper it started with `--detach` lives on. */
export type PlaceProcess = {
  /** Write: stdin. Read: stdout. */
  readonly stdio: Duplex;
  /** The last bytes of stderr, bounded (8 KiB), for explanations. */
  readonly stderr: () => string;
  /** Exit code, or 'lost' when the connection ended and nobody knows. Never rejects. */
  readonly ended: Promise<{ readonly exitCode: number } | { readonly lost: string }>;
  close(): void;
};

/** Whether it is there. `unknown` (cannot tell) is never taken for `gone`. */
export type PlaceState =
  | { readonly state: 'running' }
  /** `limit`: the bound of its own that ended it, where that is known. */
  | { readonly state: 'gone'; readonly why: string; readonly limit?: 'disk' | 'memory' }
  | { readonly state: 'unknown'; readonly why: string };

/** A socket of this machine that is reachable in a place for as long as a connection lives. */
export type ForwardedSocket = {
  /** Resolves when it is not any more, for whatever reason. */
  readonly over: Promise<unknown>;
  close(): void;
};

/** How a shared folder is written: commands that may, and where they find the keeper program. */
export type SharedWriter = Pick<Place, 'exec'> & { readonly keeper: string; close(): Promise<void> };

/** A folder that outlives environments. Their programs may read in it what they are granted, and write nothing. */
export type SharedFolder = {
  readonly path: string;
  /**
   * The folder of all environments that use it, as `<installation>/<environment>`: what none of them leads to goes when it
   * was unused for long. Null where nobody can tell: then everything stays until `clear`.
   */
  readonly environments: string | null;
  writer(): Promise<SharedWriter>;
};

/** One place of one environment. */
export type Place = {
  /** What finds it again after a restart of the node; stored in the environment's record. No secrets. */
  readonly ref: Readonly<Record<string, string>>;
  /** Identity for `Handle.identity` and for people. */
  readonly identity: { readonly containerId: string } | { readonly podUid: string } | { readonly host: string };
  /** Absolute directory in the place that belongs to this environment alone (0700, owned by the agent's user). */
  readonly root: string;
  /** User and group that programs run as there, when files have to be given to them; null: as who logs in. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** Where programs really lie there: values of PATH, SHELL, LANG; names only are passed through from it. */
  readonly variables: Readonly<Record<string, string>>;
  exec(command: PlaceCommand): Promise<PlaceProcess>;
  /**
   * Makes `target` of this machine reachable as the socket `inside`, by the place's own connection. Null where that is not
   * to be had there; absent where it never is: then a relay does it.
   */
  forwardSocket?(inside: string, target: string): Promise<ForwardedSocket | null>;
  state(): Promise<PlaceState>;
  /** Where the keeper program lies there, when the provider brought it; absent: the foundation brings it into `root`. */
  readonly keeper?: string;
  /** Where programs are kept for the next environments; absent: each environment is brought its own. */
  readonly shared?: SharedFolder;
  /** Directories of this machine that are seen in the place as they are (bind mounts): nothing is staged for these. */
  readonly mounted: readonly { readonly local: string; readonly inside: string }[];
  /** Whether trees of an earlier opening of the same environment are in it. Default false. */
  readonly keptFiles?: boolean;
  /** Why programs there may have been ended by others (out of memory, evicted), for the verdict; null when nothing is known. */
  explain(): Promise<string | null>;
  /** Whether its memory is bounded by a control group of its own, which counts what the kernel ended for it. Default false. */
  readonly boundsMemory?: boolean;
  /** Measured by the place itself. Absent numbers are null, never guessed. */
  stats(): Promise<{ readonly processes: number | null; readonly memoryBytes: number | null; readonly diskBytes: number | null }>;
  /** Removes it with everything in it, but for files that are kept (`PlaceSpec.keeps`) where they can be. Idempotent. */
  remove(): Promise<void>;
  /** Drops the connection of this view. */
  detach(): void;
};

/** What a place is made for. */
export type PlaceSpec = {
  readonly environmentId: string;
  readonly taskId: string;
  /** Installation id of the node: several nodes share one engine, cluster or host. */
  readonly installation: string;
  readonly image: string | null;
  /** User that the project wants programs to be, never root; absent: the image's own. */
  readonly user?: string;
  /** Whether the environment comes back to its files after it was closed: who can keeps them, until they are discarded. */
  readonly keeps: boolean;
  readonly project: string | null;
  readonly limits: {
    readonly memoryBytes?: number;
    readonly processes?: number;
    readonly cpuSeconds?: number;
    readonly diskBytes?: number;
  };
  /** Local directories that could be bind-mounted by who can. */
  readonly mountable: readonly { readonly local: string; readonly readOnly: boolean }[];
};

/** What a backend does with images besides taking them. */
export type PlaceImages = {
  /** Builds one unless it is there; answers its name. */
  build(build: ImageBuild, progress: (line: string) => void): Promise<string>;
  /** Takes away what was built for this installation and is not used. Answers the names. */
  prune(): Promise<readonly string[]>;
};

/** What makes one remote backend differ from another: docker, kubernetes, ssh. */
export type PlaceProvider = {
  readonly name: string;
  /** What the places are of, in a few words: which engine, in which version. Absent: nothing more than the name. */
  about?(): Promise<string>;
  /** Whether places are made from images. Absent: no. */
  readonly takesImages?: boolean;
  /** Absent where images are not built. */
  readonly images?: PlaceImages;
  /** Throws OrreryError `backend_unavailable` with what is missing and how to get it. */
  preflight(): Promise<void>;
  /** Made and ready: commands run. Idempotent by environment id: one that exists for this id is taken over. Says what it waits for. */
  create(spec: PlaceSpec, progress: (line: string) => void): Promise<Place>;
  /** The place again, or null when it is certainly gone. Throws `backend_unreachable` when nobody can tell. */
  find(environmentId: string, ref: Readonly<Record<string, string>>): Promise<Place | null>;
  /**
   * Another place with the files of one that is certainly gone, when they outlived it; null when they did not. Programs are
   * gone either way. Absent: files go with their place.
   */
  revive?(environmentId: string, ref: Readonly<Record<string, string>>): Promise<Place | null>;
  /** Environment ids of this installation that have anything there. Throws when nobody can tell. */
  list(): Promise<readonly string[]>;
  /** Removes whatever there is of an environment, found by label, but for files that it keeps. */
  sweep(environmentId: string): Promise<void>;
  /** Removes files that an environment keeps. Absent: nothing is ever kept. */
  discard?(environmentId: string): Promise<void>;
  /** Removes files that are kept for environments which are not `known`, or for nobody. Answers for whom, or what. */
  prune?(asked: { readonly known: readonly string[]; readonly dryRun: boolean }): Promise<readonly string[]>;
  /** Removes what environments share, unless one is there. Absent: nothing is shared, or it goes with the last of them. */
  clear?(): Promise<void>;
  /** What the place itself holds or cannot hold, whatever keepers in it find out: a report here takes the place of theirs. */
  readonly provides: readonly GuaranteeReport[];
  /** What keepers would find, where that can be asked before there is a place: on a host. Absent: known when one is open. */
  probe?(): Promise<readonly GuaranteeReport[]>;
  /** What it cannot stop, in plain words, beside what is true of every remote place. */
  readonly cannotStop: readonly string[];
  /** Folders of a place, beside its system and PATH, that every program may read and execute: where an image keeps its tools. */
  readonly toolPaths?: readonly string[];
  /** Folders that belong to the environment's place alone and that programs may write: `/tmp`, `/dev/shm` of a container. */
  readonly ownPaths?: readonly string[];
  /** False where keepers cannot make paths inside a checkout read-only, and shared memory is the place's. Default true. */
  readonly protectsPaths?: boolean;
  /** The guarantees a task requires here when nobody said otherwise. */
  readonly defaultRequired: readonly KeeperGuarantee[];
};
