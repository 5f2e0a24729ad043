import { z } from 'zod';
import { agentName, agentRef } from './agent-ref.ts';
import { MAX_TURN_ATTACHMENTS } from './attachment-limits.ts';
import { attachmentFacts } from './attachment.ts';
import { contextUse } from './content.ts';
import { permissionMode, unattended } from './permission.ts';
import { imageName, instant, requestId, safeName, usd } from './scalars.ts';
import { usageTotals } from './usage.ts';

// A conversation with an agent that people hold (contracts/sessions.md).

/** `dormant`: no program runs; the next turn wakes it. */
export const sessionState = z.enum(['starting', 'idle', 'running', 'waiting', 'dormant', 'ended', 'failed']);
export type SessionState = z.output<typeof sessionState>;

/** `pending` waits; `dispatching` may have reached the program; `accepted` did; `uncertain` is yours to decide: retry or discard. */
export const turnState = z.enum(['pending', 'dispatching', 'accepted', 'uncertain', 'ended', 'removed']);
export type TurnState = z.output<typeof turnState>;

/** `prompt` begins a turn; `steer` goes into the one that runs. */
export const turnKind = z.enum(['prompt', 'steer']);

/** What an input is: words, an order to sum up what was said, or one of the program's own commands. */
export const turnAction = z.enum(['say', 'compact', 'command']);
export type TurnAction = z.output<typeof turnAction>;

/** How a turn ended. */
export const turnOutcome = z.enum(['success', 'error', 'cancelled', 'interrupted', 'limit', 'budget', 'uncertain']);

/** Which failure of a turn it was, told apart by structure. */
export const turnFailure = z.enum([
  'auth',
  'overloaded',
  'rate_limit',
  'usage_limit',
  'context',
  'billing',
  'network',
  'timeout',
  'program',
  'protocol',
  'unattended',
]);

const MAX_PROMPT_CHARS = 4_000_000;
export const promptText = z.string().min(1).max(MAX_PROMPT_CHARS);

/** One input to a session. */
export const turnView = z.object({
  id: z.string(),
  requestId: z.string(),
  kind: turnKind,
  /** Its number in the log once it was dispatched. */
  turn: z.int().nullable(),
  state: turnState,
  action: turnAction,
  text: z.string(),
  attachments: z.array(attachmentFacts),
  outcome: turnOutcome.nullable(),
  /** What went wrong, or why it waits. */
  reason: z.string().nullable(),
  createdAt: instant,
  startedAt: instant.nullable(),
  endedAt: instant.nullable(),
  /** Somebody went back behind it: neither files nor conversation have it any more. */
  undone: z.boolean(),
  /** The answer to a request that was made before. */
  replayed: z.boolean(),
});
export type TurnView = z.output<typeof turnView>;

/** Turns that a session may have. */
export const maxTurns = z.int().min(1).max(1_000_000);

export const sessionView = z.object({
  id: z.string(),
  seq: z.int(),
  /** The newest event of its log. */
  sequence: z.int(),
  name: z.string(),
  /** Whether a person named it; else it is called like its environment. */
  nameGiven: z.boolean(),
  /** What it is about, for people: the name that it was given, else a line of its own. It names nothing. */
  title: z.string(),
  state: sessionState,
  reason: z.string().nullable(),
  project: z.object({ id: z.string(), name: z.string() }),
  environment: z.object({ id: z.string(), name: z.string(), backend: z.string(), state: z.string() }),
  /** The agent whose definition it was begun with. */
  agent: agentRef.nullable(),
  harness: z.string(),
  model: z.string().nullable(),
  effort: z.string().nullable(),
  /** What the program said it works with; null: it said nothing yet. */
  effectiveModel: z.string().nullable(),
  effectiveEffort: z.string().nullable(),
  mode: permissionMode,
  /** The mode that the program said it is in; null: it said nothing yet. */
  effectiveMode: z.string().nullable(),
  /** How full the model's window was last; null: the program has not said. */
  context: contextUse.nullable(),
  /** What its model calls took so far, as the gateway counted it. */
  usage: usageTotals,
  /** What becomes of what it asks when nobody is there. */
  unattended,
  /** The program's own id of the conversation. */
  conversation: z.string().nullable(),
  /** Starts of the program so far. */
  generation: z.int(),
  /** The turn that runs. */
  turn: z.int().nullable(),
  /** Inputs that wait. */
  queued: z.int(),
  /** Inputs of which nobody knows whether the program had them: yours to decide. */
  uncertain: z.int(),
  /** It was closed: what waits is not sent before another input comes or it is resumed. */
  held: z.boolean(),
  /** The usage limit of its account that keeps what waits from being sent, and until when; null: none does, or it was resumed past it. */
  limit: z
    .object({
      /** Harness and provider. */
      account: z.string(),
      until: instant,
      /** Whether the provider said until when. */
      told: z.boolean(),
    })
    .nullable(),
  /** What its model calls may cost and the turns it may have (null: no bound), and which of them is reached: then what waits is not sent. */
  budget: z.object({ usd: usd.nullable(), turns: z.int().nullable(), reached: z.enum(['usd', 'turns']).nullable() }),
  /** Open interactions. */
  interactions: z.int(),
  createdAt: instant,
  changedAt: instant,
  endedAt: instant.nullable(),
  /** What is being done to it beside its turns. */
  operation: z.enum(['rewind']).nullable(),
  /** What another session that parts from this one goes on with: the program's own memory, or a record of what was said. */
  forks: z.enum(['native', 'record']),
  /** The session and the turn before which this one parted from it; `replaced`: it began a new conversation with a record. */
  forkedFrom: z.object({ session: z.string(), turn: z.int().nullable(), replaced: z.boolean() }).nullable(),
  /** The session whose conversation this one was handed, and the one that was handed this. */
  handedFrom: z.string().nullable(),
  handedTo: z.string().nullable(),
  replayed: z.boolean(),
});
export type SessionView = z.output<typeof sessionView>;

export const sessionCreate = z.strictObject({
  /** Id, name or path of a project. Left out when an environment is named. */
  project: z.string().min(1).max(4096).optional(),
  /** An environment of its own that is there already. Default: one is made for this session. */
  environment: z.string().min(1).max(200).optional(),
  name: safeName.optional(),
  /** Its harness, model, effort and mode count where the request says nothing of its own. */
  agent: agentName.optional(),
  harness: z.string().max(100).optional(),
  model: z.string().max(200).optional(),
  effort: z.string().max(50).optional(),
  /** Default: as its agent says, else `wait`. */
  unattended: unattended.optional(),
  /** Default: the agent's, else `ask`. */
  mode: permissionMode.optional(),
  backend: z.string().max(100).optional(),
  /** Image of the environment that is made for it, as in `environmentCreate`. */
  image: imageName.optional(),
  base: z.string().min(1).max(500).optional(),
  /** Most that its model calls may cost; null: no bound. Default: the operator's. */
  budgetUsd: usd.nullable().optional(),
  /** Most turns; null: no bound. Default: the operator's. */
  maxTurns: maxTurns.nullable().optional(),
  /** The first prompt, sent once its environment is ready. */
  prompt: promptText.optional(),
  requestId: requestId.optional(),
});
export type SessionCreate = z.output<typeof sessionCreate>;

export const turnCreate = z.strictObject({
  /** Words; with `compact` what the summary is to keep (may be empty), with `command` what follows its name. */
  text: z.string().max(MAX_PROMPT_CHARS),
  kind: turnKind.default('prompt'),
  action: turnAction.optional(),
  /** For the action `command`: its name as the program reported it, without the slash. */
  command: z.string().min(1).max(200).optional(),
  /** Ids of attachments of this session, uploaded before. */
  attachments: z.array(z.string().min(1).max(200)).max(MAX_TURN_ATTACHMENTS).optional(),
  requestId: requestId.optional(),
});
export type TurnCreate = z.output<typeof turnCreate>;

export const turnChange = z.strictObject({
  /** New text of an input that waits. */
  text: promptText.optional(),
  /** The text that it had for whoever changes it: when it has another one by now, nothing is changed. */
  was: z.string().max(MAX_PROMPT_CHARS).optional(),
  /** Place among those that wait, from 0. */
  position: z.int().min(0).max(100_000).optional(),
});

/** Answers the ids of a batch, in band. */
export const sessionActivity = z.object({
  items: z.array(
    z.object({
      id: z.string(),
      activity: z.enum(['idle', 'running', 'waiting', 'dormant', 'ended', 'missing', 'unavailable']),
    }),
  ),
});

/** What a program reported of itself: models as `provider/model`, and its own commands. */
export const reportedCatalogue = z.object({
  models: z.array(
    z.object({ id: z.string(), provider: z.string(), model: z.string(), name: z.string(), efforts: z.array(z.string()) }),
  ),
  commands: z.array(z.object({ name: z.string(), description: z.string() })),
  /** `live`: from a program that runs; `cached`: from an earlier one of this version; `stale`: of another version; `none`: nothing was reported yet. */
  provenance: z.enum(['live', 'cached', 'stale', 'none']),
  reportedAt: instant.nullable(),
});
export type ReportedCatalogue = z.output<typeof reportedCatalogue>;
