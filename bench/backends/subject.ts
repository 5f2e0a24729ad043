// Glossary. A subject is one backend and the bare tool beside it; a session is one environment from its opening to its end,
// or what stands for one when there is only the tool.
import type { Backend, Environment } from '../../packages/node/src/exec/backend.ts';
import type { SshBackendParts } from '../../packages/node/src/exec/ssh/index.ts';
import type { TimeLimit } from '../time-limit.ts';

/** What the bare tool has open. */
export type BareSession = {
  /** Milliseconds that bringing the files took; null where nothing is brought. */
  readonly stagedMs: number | null;
  exec(): Promise<void>;
  /** Runs a script of the shell where the files are. */
  change(script: string): Promise<void>;
  diskBytes(): Promise<number>;
  /** Ends it; `fetch`: with the files brought back before. */
  close(fetch: boolean): Promise<void>;
};

/** The bare tool, and in words what it does for each row. */
export type BareTool = {
  readonly words: {
    readonly open: string;
    readonly exec: string;
    readonly close: string;
    readonly fetch: string;
    readonly stage: string;
  };
  open(): Promise<BareSession>;
};

/** What is compared. */
export type Subject = {
  readonly backend: Backend;
  readonly bare: BareTool;
  /** Bytes that an open environment takes where it is, beside what the node keeps of it here. */
  diskBytes(environment: Environment): Promise<number>;
  /** Ends the servers that were started for it. */
  close(): Promise<void>;
};

/** Where subjects work. */
export type Ground = {
  /** A folder for what a subject needs. */
  readonly directory: string;
  /** The same files twice: one tree for environments, one for the bare tool. */
  readonly ours: string;
  readonly bare: string;
  readonly parts: SshBackendParts;
};

/** One backend of the table. */
export type Contender = {
  readonly name: string;
  /** How long it may take, its server's start included, ms. */
  readonly budgetMs: number;
  /** Why it cannot be measured on this machine, or null. */
  why(): string | null;
  make(ground: Ground, limit: TimeLimit): Promise<Subject>;
};
