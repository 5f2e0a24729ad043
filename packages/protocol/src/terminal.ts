import { z } from 'zod';
import { id, operation } from './operation.ts';
import { instant } from './scalars.ts';

/** Bounds of a terminal: smaller than this no program draws. */
export const terminalSmallest = { columns: 20, rows: 5 } as const;
const columns = z.int().min(1).max(1_000);
const rows = z.int().min(1).max(1_000);

/** A program that a person started in an environment: with a terminal, or with streams. */
export const terminalView = z.object({
  id: z.string(),
  environmentId: z.string(),
  /** What was asked for: a shell, or a command. */
  command: z.array(z.string()),
  /** Whether it has a terminal; else its streams are apart. */
  tty: z.boolean(),
  state: z.enum(['running', 'ended', 'lost']),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  /** Why it ended, where it was not by itself: a limit, a kill. */
  reason: z.string().nullable(),
  viewers: z.int(),
  startedAt: instant,
});
export type TerminalView = z.output<typeof terminalView>;

const terminalOpen = z.strictObject({
  /** Absent: a shell. */
  command: z.array(z.string().max(100_000)).min(1).max(1_000).optional(),
  tty: z.boolean().default(true),
  columns: columns.default(80),
  rows: rows.default(24),
  /** Kind of the viewer's terminal, as in TERM. */
  term: z
    .string()
    .regex(/^[A-Za-z0-9._+-]{1,64}$/, 'a name of a terminal')
    .default('xterm-256color'),
});

const terminalId = z.object({ id: z.string().min(1).max(200), terminal: z.string().min(1).max(200) });

/** What an environment uses now. */
const environmentStats = z.object({
  environmentId: z.string(),
  /** null: it cannot be told. */
  processes: z.int().nullable(),
  memoryBytes: z.int().nullable(),
  /** Of its files, as seen not long ago. */
  diskBytes: z.int().nullable(),
});

/** Operations that go into open environments. `:id` is an environment's id or name, or a task. */
export const terminalOperations = {
  terminalList: operation({
    method: 'get',
    path: '/environments/:id/terminals',
    scope: 'viewer',
    summary: 'Shells and commands that people started in an environment.',
    params: id,
    answer: z.object({ items: z.array(terminalView) }),
  }),
  terminalOpen: operation({
    method: 'post',
    path: '/environments/:id/terminals',
    scope: 'operator',
    summary: 'Start a shell or a command in an environment; connect to it to see it.',
    params: id,
    body: terminalOpen,
    answer: terminalView,
    status: 201,
  }),
  terminalEnd: operation({
    method: 'post',
    path: '/environments/:id/terminals/:terminal/end',
    scope: 'operator',
    summary: 'End a shell or a command with everything it started.',
    params: terminalId,
    body: z.strictObject({ kill: z.boolean().default(true) }),
    answer: terminalView,
  }),
  environmentStats: operation({
    method: 'get',
    path: '/environments/:id/stats',
    scope: 'viewer',
    summary: 'Processes, memory and disk of an environment now.',
    params: id,
    answer: environmentStats,
  }),
} as const;

/** Control frames of a viewer (text). */
export const viewerFrame = z.discriminatedUnion('type', [
  /** The viewer's own size; only visible viewers count. */
  z.strictObject({ type: z.literal('size'), columns, rows, visible: z.boolean().default(true) }),
  /** Become the one who writes. */
  z.strictObject({ type: z.literal('take') }),
  /** Output up to these offsets was taken: of a viewer that said `window`, no more than that is ever on its way. */
  z.strictObject({ type: z.literal('seen'), stdout: z.int().min(0), stderr: z.int().min(0) }),
  z.strictObject({ type: z.literal('end-input') }),
  z.strictObject({ type: z.literal('terminate') }),
  z.strictObject({ type: z.literal('kill') }),
]);

/** Control frames of the node (text). */
export type TerminalFrame =
  | {
      readonly type: 'hello';
      readonly generation: number;
      readonly tty: boolean;
      /** Identifies this connection's input after it is resumed. */
      readonly viewer: string;
      readonly writer: 'you' | 'other' | 'none';
      /** Output before it was there already: it is shown again, and what it asks of a terminal is answered by none. */
      readonly replayUntil: number;
    }
  | { readonly type: 'size'; readonly columns: number; readonly rows: number }
  /**
   * What lay between is gone: output of the stream goes on at this offset. `screen`: how it looked there follows, in binary
   * frames of that stream with so many bytes in all, drawn at that size; null: nobody knows.
   */
  | {
      readonly type: 'desync';
      readonly stream: 'stdout' | 'stderr';
      readonly offset: number;
      readonly screen: { readonly columns: number; readonly rows: number; readonly bytes: number } | null;
    }
  /** Input up to this offset was written to the program. */
  | { readonly type: 'took'; readonly offset: number }
  | { readonly type: 'writer'; readonly writer: 'you' | 'other' | 'none' }
  | { readonly type: 'refused'; readonly code: string; readonly message: string }
  | {
      readonly type: 'exit';
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly limit: string | null;
      readonly reason: string | null;
    };
