// What a command is: one row of the command table, and the function that its row loads when it is called.
import type { OperationName } from '@orrery/protocol';
import type { Connection } from '../connect.ts';
import type { ExitCode } from '../exit.ts';
import type { Paths } from '../paths.ts';
import type { Screen } from '../screen.ts';
import type { World } from '../world.ts';
import type { OrreryError } from '@orrery/protocol/errors';

/** What completes a word: ids and names come from the running node. */
export type Completes =
  | 'task'
  | 'project'
  | 'environment'
  | 'session'
  | 'salvage'
  | 'token'
  | 'harness'
  | 'backend'
  | 'file'
  | 'folder'
  | 'command'
  | 'selftest';

/** How the text behind an option is read. `flag` takes none; `texts` may be given more than once, and is not taken apart. */
export type OptionKind = 'flag' | 'text' | 'number' | 'usd' | 'duration' | 'bytes' | 'list' | 'texts';

export type OptionSpec = {
  /** Without the dashes: `max-retries`. A name that begins with `no-` switches something off. */
  readonly name: string;
  readonly kind: OptionKind;
  /** What stands for the value in help. */
  readonly value?: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
};

export type ArgumentSpec = {
  readonly name: string;
  readonly required: boolean;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
};

export type Example = { readonly line: string; readonly does: string };

/** One row of the command table. Help, man pages, completion and documentation are made of it. */
export type CommandSpec = {
  readonly noun: string | null;
  readonly verb: string;
  readonly summary: string;
  readonly detail?: string;
  readonly arguments?: readonly ArgumentSpec[];
  readonly options?: readonly OptionSpec[];
  /** What may follow `--`; absent: nothing. */
  readonly tail?: string;
  readonly examples: readonly [Example, ...Example[]];
  /** Exit codes beside 0, 1 and 2 that this command has of its own. */
  readonly exits?: readonly ExitCode[];
  /** Operations that the node must have. */
  readonly operations?: readonly OperationName[];
  /**
   * It changes something: a receipt is kept before it is sent. `once`: the node does the same request id once, so that
   * `--request-id` is offered; `plain`: its operation has no request id; `many`: a
   * person makes many changes in it, each with an id of its own.
   */
  readonly changes?: 'once' | 'plain' | 'many';
  /** It follows something: it takes `--jsonl`. */
  readonly follows?: boolean;
  /** Left out of help and completion. */
  readonly hidden?: boolean;
  readonly load: () => Promise<Command>;
};

/** What was typed, read by the kinds of the table. */
export type CommandInput = {
  argument(name: string): string | null;
  text(option: string): string | null;
  number(option: string): number | null;
  list(option: string): readonly string[];
  flag(option: string): boolean;
  /** What followed `--`. */
  readonly tail: readonly string[];
};

/** How output is wanted. */
export type Mode = 'human' | 'json' | 'jsonl';

/** One change, with its receipt written before it is sent. */
export type Change = <Answer>(given: {
  readonly intent: unknown;
  readonly send: (requestId: string) => Promise<Answer>;
  readonly resources?: (answer: Answer) => readonly string[];
  readonly authority?: string;
}) => Promise<Answer>;

export type CommandContext = {
  readonly world: World;
  /** The whole command table. */
  readonly table: readonly CommandSpec[];
  readonly paths: Paths;
  readonly input: CommandInput;
  readonly mode: Mode;
  /** Looks of standard output and of standard error. */
  readonly screen: Screen;
  readonly side: Screen;
  /** Writes one line of progress to standard error; silent with `--json`. */
  note(text: string): void;
  /** Says something that a person should know: on standard error, and among the warnings of the envelope. */
  warn(text: string): void;
  /** Writes data to standard output while the command goes on: a line of text, or with `--jsonl` one JSON line. */
  data(line: { readonly text: string | null; readonly json: unknown }): void;
  /** The node; the same one each time. `stop` ends every call to it. */
  connect(stop?: AbortSignal): Promise<Connection>;
  /** Like `connect`, but starts a node when none runs (unless `--no-start`). */
  connectOrStart(): Promise<Connection>;
  readonly change: Change;
  /** Options that the node's program needs to find the same places. */
  readonly nodeArguments: readonly string[];
};

/** How a command ended. */
export type Outcome = {
  /** What `--json` shows. */
  readonly result: unknown;
  /** What a person sees on standard output; null or empty: nothing. */
  readonly text?: string | null;
  /** Next commands and remarks, on standard error. */
  readonly hints?: readonly string[];
  /** It ended without what was asked for; `text` is still shown. `exit`: when it is not the code's own. */
  readonly failure?: { readonly error: OrreryError; readonly exit?: number };
};

export type Command = (context: CommandContext) => Promise<Outcome>;
