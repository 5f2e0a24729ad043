import { z } from 'zod';
import { paidBy } from './program-login.ts';
import { instant } from './scalars.ts';

/** Who the node is and what it is doing. */
export const nodeFacts = z.object({
  name: z.string(),
  version: z.string(),
  installationId: z.string(),
  /** New for each start. */
  generation: z.string(),
  pid: z.int(),
  startedAt: instant,
  dataDirectory: z.string(),
  url: z.string(),
  seq: z.int(),
  state: z.enum(['recovering', 'serving', 'draining']),
  defaultBackend: z.string(),
  defaultHarness: z.string(),
  tasks: z.object({ queued: z.int(), waiting: z.int(), running: z.int() }),
  queuePaused: z.boolean(),
  memoryBytes: z.int(),
});
export type NodeFacts = z.output<typeof nodeFacts>;

/** One line of `orrery doctor`. */
export const doctorLine = z.object({
  area: z.string(),
  state: z.enum(['ok', 'warning', 'problem']),
  message: z.string(),
  fix: z.string().nullable(),
});
export const doctorReport = z.object({ lines: z.array(doctorLine), checkedAt: instant });
export type DoctorReport = z.output<typeof doctorReport>;

/** What this node can do, for clients that show only what is there. */
export const capabilities = z.object({ apiVersion: z.int(), version: z.string(), operations: z.array(z.string()) });

/** A kind of place to run things and what it guarantees on this machine. */
export const backendView = z.object({
  name: z.string(),
  aliases: z.array(z.string()),
  summary: z.string(),
  usable: z.boolean(),
  problem: z.string().nullable(),
  fix: z.string().nullable(),
  isDefault: z.boolean(),
  allowed: z.boolean(),
  /** Whether what runs there is made from an image, so that a request can name one. */
  takesImages: z.boolean(),
  guarantees: z.array(z.object({ guarantee: z.string(), held: z.boolean(), by: z.string(), missing: z.string().nullable() })),
  cannotStop: z.array(z.string()),
});
/** What `POST /node/prune` removed, or would remove, by backend. */
export const nodePruned = z.object({
  items: z.array(
    z.object({
      backend: z.string(),
      /** Environments of which something was left; the name of what was kept for nobody. */
      removed: z.array(z.string()),
      /** Why nobody could tell what is there; null when it was looked at. */
      problem: z.string().nullable(),
    }),
  ),
});

export type NodePruned = z.output<typeof nodePruned>;
export type BackendView = z.output<typeof backendView>;

/** An agent program and what its adapter can do. */
export const harnessView = z.object({
  id: z.string(),
  summary: z.string(),
  program: z.string().nullable(),
  pinnedVersion: z.string().nullable(),
  installedVersion: z.string().nullable(),
  isDefault: z.boolean(),
  /** Who brought it: `built-in`, or `config.yaml`. */
  provenance: z.string(),
  /** It was tried: ours with their pinned programs, an operator's once a turn of it ended well on this node. */
  verified: z.boolean(),
  capabilities: z.record(z.string(), z.union([z.boolean(), z.string(), z.array(z.string())])),
  defaultModel: z.string().nullable(),
  /** What its model calls are paid by now. */
  paidBy,
  /** In a conversation, whether each tool call can be decided before it happens; null: it holds no conversations. */
  toolGate: z.enum(['before', 'after', 'none']).nullable(),
  /** What it cannot in a conversation. */
  missing: z.array(z.object({ what: z.string(), why: z.string() })),
});
export type HarnessView = z.output<typeof harnessView>;
export const harnessInstalled = z.object({
  id: z.string(),
  version: z.string(),
  path: z.string(),
  alreadyThere: z.boolean(),
  tookMs: z.int(),
});

/** Where one configuration value came from and what it shadows. */
export const configExplained = z.object({
  key: z.string(),
  value: z.unknown(),
  origin: z.string(),
  shadows: z.array(z.object({ origin: z.string(), value: z.unknown() })),
  restart: z.boolean(),
  description: z.string(),
});

export type ConfigExplained = z.output<typeof configExplained>;

/** The whole configuration: every key, with the default ones. */
export const configListed = z.object({
  /** The node's own file; it need not exist. */
  file: z.string(),
  /** Why the file as it stands is not in force: what, the rule, the fix. The last good one holds meanwhile. */
  problem: z.array(z.string()).nullable(),
  items: z.array(configExplained),
});
