import type { Generated } from 'kysely';

// Tables of sessions and of what they ask.

/** A conversation with an agent. */
export type SessionTable = {
  key: Generated<number>;
  id: string;
  request_id: string;
  intent_hash: string;
  name: string;
  project_id: string;
  environment_id: string;
  /** 1: the environment was made for this session. */
  owns_environment: number;
  harness: string;
  model: string | null;
  effort: string | null;
  /** The agent's definition as it was when the session was begun, as JSON. */
  agent: string | null;
  /** What a person wants it to do without asking, and what the program was told. */
  mode: string;
  told_mode: string | null;
  effective_mode: string | null;
  /** What becomes of what it asks when nobody is there. */
  unattended: Generated<string>;
  state: string;
  reason: string | null;
  /** `close` or `end`: asked for and not reached yet. */
  wanted: string | null;
  /** 1: it was closed, and what waits in it is not sent before somebody lets it go on. */
  held: Generated<number>;
  conversation: string | null;
  /** Starts of the program, and the run of the newest while it may live. */
  generation: number;
  run_id: string | null;
  /** Starts in a row that ended before the program took anything. */
  failed_starts: number;
  /** When its conversation began, as the node heard of it. */
  conversation_at: Generated<number | null>;
  /** What the program reported of itself: models, commands, modes. */
  catalogue: string;
  /** How full the model's window was last. */
  context: string | null;
  /** Model and effort that the program was told, and what it said it has. */
  told_model: string | null;
  told_effort: string | null;
  effective_model: string | null;
  effective_effort: string | null;
  /** Where the conversation is after its last turn, in the program's terms. */
  position: string | null;
  /** JSON: the place in another conversation at which the next start of the program begins one of its own. */
  branch: string | null;
  /** JSON: what is being done to it beside its turns; recorded before it begins. */
  operation: string | null;
  /** What the program is given before the next input: a record of an earlier conversation. */
  record: string | null;
  /** JSON: the session it parted from, and where. */
  forked_from: string | null;
  /** Ids of sessions. */
  handed_from: string | null;
  handed_to: string | null;
  /** The usage limit, by when it was met, that a person let it go past. */
  past_limit: Generated<number | null>;
  /** What its model calls may cost, and the turns it may have; null: no bound. */
  budget_usd: Generated<number | null>;
  max_turns: Generated<number | null>;
  /** `usd` or `turns`: which of them is reached. */
  spent: Generated<string | null>;
  /** 1: a person named it. */
  name_given: Generated<number>;
  /** What it is about, and who says so: `words` (its first input), `asked` (a model is asked, once) or `model`. */
  title: string | null;
  title_from: string | null;
  created_at: number;
  changed_at: number;
  ended_at: number | null;
  /** Bytes that it keeps in `session_detail`. */
  detail_bytes: Generated<number>;
};
/** A piece of a text that is too large for its event; `position` counts bytes. */
export type SessionDetailTable = { session_id: string; locator: string; position: number; piece: Uint8Array };
/** One input of a session. */
export type TurnTable = {
  id: string;
  session_id: string;
  request_id: string;
  intent_hash: string;
  kind: string;
  /** What it is for: words, a summing up, or a command of the program. */
  action: Generated<string>;
  /** Ids of what goes with it. */
  attachments: Generated<string>;
  text: string;
  /** Order among those that wait. */
  position: number;
  /** The number of the turn it began, or that it was put into. */
  turn: number | null;
  state: string;
  /** The start of the program it was given to. */
  generation: number | null;
  cancel_requested: number;
  cancel_told: number;
  /** What the program is given before its text. */
  record: string | null;
  /** 1: somebody went back behind it. */
  undone: Generated<number>;
  outcome: string | null;
  reason: string | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
};
/** Files and conversation as they were at one moment. */
export type SessionCheckpointTable = {
  id: string;
  session_id: string;
  project_id: string;
  kind: string;
  /** The turn that came next. */
  turn: number | null;
  /** The newest event of the log. */
  sequence: number;
  ref: string;
  sha: string;
  head_sha: string;
  branch: string | null;
  /** Object name of the agent's index, as a blob. */
  staged: string | null;
  /** JSON: the place in the conversation; null: there was none yet. */
  conversation: string | null;
  /** JSON: numbers of turns that were undone at that moment. */
  undone: string;
  notes: string;
  created_at: number;
};
/** Requests of sessions that are deleted: none of them may be taken for a new one. */
export type SessionTombstoneTable = {
  session_id: string;
  request_id: string;
  /** session or turn. */
  kind: string;
  at: number;
};
/** What the program of a session is to be told and the keeper may not have written yet: each at most once. */
export type SessionFrameTable = {
  session_id: string;
  generation: number;
  key: string;
  position: Generated<number>;
  text: string;
  /** The input it carries; null: none of its own. */
  turn_id: string | null;
};
/** Who conducts a session. The fence grows with every change of hands. */
export type SessionLeaseTable = { session_id: string; owner: string; fence: number; until: number };
/** One process of a session; its id names the keeper's directory. */
export type SessionRunTable = {
  id: string;
  session_id: string;
  generation: number;
  described: string;
  identity: string | null;
  /** recorded, launched or ended. */
  state: string;
  /** 1 once it said that it takes prompts. */
  ready: number;
  /** Committed parse position, and the dialogue's state there. */
  stdout_offset: number;
  stderr_offset: number;
  stderr_tail: string;
  dialogue: string;
  end: string | null;
  started_at: number;
  ended_at: number | null;
};
export type InteractionTable = {
  id: string;
  session_id: string;
  generation: number;
  /** What the program calls it. */
  key: string;
  turn: number | null;
  ask: string;
  revision: number;
  state: string;
  outcome: string | null;
  /** By the keys of its questions, as JSON. */
  answers: string | null;
  message: string | null;
  by: string | null;
  /** 1 once the program was told. */
  told: number;
  deadline_at: number | null;
  created_at: number;
  settled_at: number | null;
};
/** A file that was given to a session; its bytes stand below the data directory under their hash. */
export type AttachmentTable = {
  id: string;
  session_id: string;
  request_id: string;
  name: string;
  media_type: string;
  bytes: number;
  sha256: string;
  created_at: number;
};
/** What a program reported of itself last, whichever session it was. */
export type HarnessCatalogueTable = {
  harness: string;
  version: string | null;
  catalogue: string;
  session_id: string;
  reported_at: number;
};
/** A person's own program that is attached, or was. */
export type AttachedSessionTable = {
  key: Generated<number>;
  id: string;
  request_id: string;
  intent_hash: string;
  name: string;
  harness: string | null;
  /** The agent's definition as it was when it attached, as JSON. */
  agent: string | null;
  /** What the program says it is. */
  program: string | null;
  folder: string | null;
  /** The token that it came with; null: it has no row. */
  token_id: string | null;
  made_by: string;
  reason: string | null;
  created_at: number;
  ended_at: number | null;
};
