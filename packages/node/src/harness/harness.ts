// Glossary. A harness is an agent program and its adapter; the program's dialect stops in its folder. A launch is what
// one turn needs to run; a translator turns the program's bytes into events. Contract: sessions, harness adapters.

import type { AgentTools, ConversationBody, PermissionMode } from '@orrery/protocol';
import type { Branch, Dialogue, DialogueState } from './dialogue.ts';
import type { HarnessLogin } from './login.ts';
import type { McpServer, McpWay } from './mcp.ts';
import type { TerminalWord } from './osc.ts';
import type { ScreenStatus } from './screen-status.ts';

/** Where an installed program is. */
export type InstalledProgram = {
  readonly directory: string;
  readonly executable: string;
  readonly version: string;
  readonly node: string;
};

/** What the adapter needs to know to prepare one turn. Paths are as seen from inside the environment. */
export type TurnContext = {
  readonly program: InstalledProgram | null;
  readonly prompt: string;
  /** The program's own conversation id of an earlier turn, or null for a new conversation. */
  readonly conversation: string | null;
  readonly model: string | null;
  readonly effort: string | null;
  readonly workdir: string;
  readonly home: string;
  readonly scratchpad: string;
  /** Address of the broker inside, `http://127.0.0.1:PORT`; models are at `/models/<provider>`. */
  readonly brokerEndpoint: string;
  /** File with the run token, readable to the agent alone. */
  readonly tokenFile: string;
  readonly systemPrompt: string | null;
  /** The tools that it may use, by its own names; null or absent: all. Only for a harness with `tools`. */
  readonly tools?: AgentTools | null;
  /** Folder of the skills that it is offered, each with a SKILL.md, written before it starts; null or absent: none. Only for a harness with `skills`. */
  readonly skills?: string | null;
  /** MCP servers of its agent; absent: none. Only for a harness with `mcp`. */
  readonly mcp?: readonly McpServer[];
  /** For the harness `command`. */
  readonly command: readonly string[] | null;
  readonly asRoot: boolean;
  /** What a new conversation is called where that is left to the node; the same whenever the same turn is prepared again. */
  readonly name?: string;
  /** The folder of memories, when there are any. */
  readonly memory?: string | null;
  /** How long the model may be silent inside one answer, ms; absent: `MODEL_QUIET_MS`. */
  readonly modelQuietMs?: number;
};

/** What one turn runs. */
export type TurnLaunch = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files below HOME to write before the start (relative path → content, 0600); no secrets in them. */
  readonly homeFiles: Readonly<Record<string, string>>;
  /** The prompt in the program's own form, written to stdin; null: the translator says what is written, line by line. */
  readonly input: Uint8Array | null;
  /** When stdin is closed: right after the input, or when the turn is settled; a program that does not end then is ended. */
  readonly closeInput: 'after-input' | 'when-settled';
  /** What the translator of a new turn begins with, stored before the program may act; absent: `{}`. */
  readonly begins?: TranslatorState;
  /** Directories the program itself lives in, granted read and execute. */
  readonly programPaths: readonly string[];
  /** A file that only this program may read, and the variable that names its path. It may hold the run token. Absent: none. */
  readonly file?: { readonly name: string; readonly variable: string; content(runToken: string): string };
};

/** What the program's own full screen runs: the same, but a person writes to it. */
export type ScreenLaunch = Omit<TurnLaunch, 'input' | 'closeInput' | 'begins'>;

/** The program's own full screen, for a person at a terminal. */
export type HarnessScreen = {
  /** An empty prompt: it begins with nothing to do. Its questions at a first start are answered by files and arguments. */
  launch(context: TurnContext): ScreenLaunch;
  /** What it tells of itself through its terminal; null: nothing. */
  status(word: TerminalWord): ScreenStatus | null;
};

/** What a translator remembers between lines; stored with the offset, so that parsing restarts at any committed offset. */
export type TranslatorState = Readonly<Record<string, unknown>>;

export type TurnOutcome = Extract<ConversationBody, { kind: 'turn.ended' }>;

/** Why a turn failed, told apart by structure. */
export type TurnFailure = NonNullable<TurnOutcome['failure']>;

/** What the model gateway knows of the newest call of a turn when that call failed: the truth about limits, whatever the program makes of it. */
export type GatewayFailure = {
  readonly failure: TurnFailure | 'budget';
  readonly message: string;
  readonly resetsAt: string | null;
};

/** How the program ended, and what the node knows beside it. */
export type ProgramEnd = {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stderrTail: string;
  /** Why the node itself stopped the program; null or absent when it did not. */
  readonly stoppedFor?: 'cancel' | 'timeout' | 'node' | 'unattended' | null;
  readonly gateway?: GatewayFailure | null;
};

/** The result of taking in bytes: whole lines only are consumed. */
export type Translated = {
  readonly events: readonly ConversationBody[];
  /** Bytes consumed from the start of the stream, after this push. */
  readonly offset: number;
  readonly state: TranslatorState;
  /** The program's conversation id, once known. */
  readonly conversation: string | null;
  /** The turn is over as far as the program says (stdin may be closed). */
  readonly settled: boolean;
  /** The program confirmed that it took the prompt. */
  readonly accepted: boolean;
};

/** One line for a program, named so that it is written at most once. */
export type SpokenLine = { readonly key: string; readonly text: string };

/** What a program is to be told in its turn. The lines are in the translator's state: they are written once that is stored. */
export type Speech = {
  /** Lines that are not written yet, oldest first. */
  outbox(): readonly SpokenLine[];
  /** The line was written in full: it need not be stored any more. */
  wrote(key: string): void;
};

/** Turns one turn's stdout into events; never throws on what a program may send. */
export type Translator = {
  /** Absent: the program is told nothing but its input. */
  readonly speech?: Speech;
  push(bytes: Uint8Array): Translated;
  /** The program ended: the outcome, by structure first and exit code last. */
  end(end: ProgramEnd): { readonly events: readonly ConversationBody[]; readonly outcome: TurnOutcome };
};

/** What a program of a session is started with, as for a turn; its prompts come later. */
export type SessionContext = Omit<TurnContext, 'prompt' | 'command'> & {
  readonly mode: PermissionMode;
  /** For a program that is started for each turn: its prompt. Absent: it comes later. */
  readonly turnPrompt?: string;
  /** As in `DialogueStart`. */
  readonly branch: Branch | null;
};

/** What a session's process runs. */
export type SessionLaunch = ScreenLaunch;

/** What a program can do in a session: shown as it is, never faked. */
export type SessionCapabilities = {
  readonly steer: boolean;
  readonly approvals: boolean;
  readonly questions: boolean;
  readonly modes: readonly PermissionMode[];
  readonly commands: boolean;
  readonly models: boolean;
  /** How a conversation goes on twice: by the program itself out of a copy of its files, or as a new one that is given a record. */
  readonly fork: 'native' | 'record';
  /** How it goes back: by the program itself, or in a new conversation that is given a record of what is kept. */
  readonly rewind: 'native' | 'replaced';
  readonly effort: boolean;
  /** Images go with an input; other files are put beside the checkout, for which it needs nothing. */
  readonly images: boolean;
  readonly files: boolean;
  readonly plans: boolean;
  readonly context: boolean;
  readonly compaction: boolean;
  readonly subAgents: boolean;
  readonly backgroundTasks: boolean;
  /** Whether each tool call can be decided before it happens. */
  readonly toolGate: 'before' | 'after' | 'none';
  /** Why something is missing, in a sentence for people: one for each ability that is not there, or has something in its stead. */
  readonly missing: Readonly<Record<string, string>>;
};

/** The part of an adapter for conversations that people hold. */
export type SessionAdapter = {
  readonly capabilities: SessionCapabilities;
  /** The program's name for people. */
  readonly program: string;
  /** A process for each turn, started with its prompt, which is told nothing more. Absent: one process for many turns. */
  readonly perTurn?: true;
  launch(context: SessionContext): SessionLaunch;
  /** Throws `unsupported` for a model that it cannot use; absent: it takes any name. */
  readonly checkModel?: (model: string) => void;
  /** The first instant at which it may take up a conversation again that began then, both in ms. Absent: at once. Pure. */
  readonly takesUpFrom?: (begunMs: number) => number;
  /** It says nothing of a model call that failed and that it makes again. Absent: it does. */
  readonly quietRetries?: true;
  /** Whether it ended because it does not have the conversation that it was to go on with, by the end of its stderr. Pure. */
  hasLost(stderr: string): boolean;
  dialogue(from: { readonly offset: number; readonly state: DialogueState | null }): Dialogue;
};

/** A capability table: shown as it is, never faked. */
export type HarnessCapabilities = {
  readonly process: 'per-turn' | 'stream';
  readonly resume: boolean;
  readonly toolGate: 'before' | 'after' | 'none';
  readonly usage: boolean;
  readonly systemPrompt: boolean;
  readonly models: boolean;
  readonly effort: boolean;
};

/** How the pinned program is installed below the data directory. */
export type ProgramPin = {
  readonly packages: readonly {
    /** Name below node_modules. */
    readonly name: string;
    /** Exact version, or `npm:name@version` where the package is published under another name. */
    readonly version: string;
    readonly platforms: readonly string[];
    /** `dist.integrity` of the registry; anything else is refused. */
    readonly integrity: string;
  }[];
  /** Path of the executable inside the install folder, by platform key (`linux-x64`). */
  readonly executable: Readonly<Record<string, string>>;
  readonly runsOnNode: boolean;
  readonly version: string;
  /** It is installed without the packages that it may bring along: none of them is pinned, and it works without. */
  readonly alone?: boolean;
};

/** A file of a conversation; its path is relative. */
export type ConversationFile = { readonly path: string; readonly content: Uint8Array };

/** How a program keeps its conversations, so that one can go on in another environment. Never holds a credential's file. */
export type ConversationStore = {
  /** Folder below HOME in which they all are. */
  readonly folder: string;
  /** Whether a file, by its path below that folder, belongs to a conversation. Pure. */
  holds(path: string, conversation: string): boolean;
  /** The conversation of whose files this one is only the rest, or null. Absent: each one is whole by itself. Pure. */
  base?(file: ConversationFile): string | null;
  /** The file as the program looks for it when it works in `workdir`. Pure. */
  placed(file: ConversationFile, workdir: string): ConversationFile;
};

/** An adapter. */
export type Harness = {
  readonly id: string;
  readonly summary: string;
  readonly capabilities: HarnessCapabilities;
  /** Null: it has none, and a task that asks for it is refused. */
  readonly screen: HarnessScreen | null;
  /** Provider of the model gateway it calls, null when it calls no model. */
  readonly provider: string | null;
  readonly defaultModel: string | null;
  readonly pin: ProgramPin | null;
  /** The program is the operator's own installation: found, not installed. Absent: it is not. */
  readonly own?: { readonly command: string };
  /** Null: no conversation outlives its environment. */
  readonly conversations: ConversationStore | null;
  /** Null: it cannot hold a conversation with people. */
  readonly session: SessionAdapter | null;
  /** An operator's own program, which nobody tried before it runs here. Absent: one of ours. */
  readonly declared?: true;
  /** Paths of a checkout from which it runs code unasked, with no switch that holds against it. Absent: none. */
  readonly orders?: readonly string[];
  /** The tools that it can be held to by lists, as it calls them. Absent: it cannot be held to any. */
  readonly tools?: readonly string[];
  /** Folder below HOME where skills lie for it, by whom they are for (an id). Absent: it cannot be offered any. Pure. */
  readonly skills?: (owner: string) => string;
  /** How a subscription pays its model calls. Absent: none can. */
  readonly login?: HarnessLogin;
  /** How it can be given MCP servers. Absent: it takes none. */
  readonly mcp?: readonly McpWay[];
  /** Hosts that its tasks may reach beside what they ask for. Absent: none. */
  readonly egress?: readonly string[];
  launch(context: TurnContext): TurnLaunch;
  /** A translator for one turn, continuing at a committed offset and state (0 and {} for a new one). */
  translator(from: { readonly offset: number; readonly state: TranslatorState }): Translator;
};
