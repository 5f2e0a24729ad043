import { z } from 'zod';
import { attachedState } from './attached.ts';
import { attachmentFacts } from './attachment.ts';
import { contentBodies, ofAgent, toolPicture } from './content.ts';
import { environmentOperation, environmentState } from './environment.ts';
import { interactionAsk, interactionKind, interactionOutcome } from './interaction.ts';
import { answers } from './question.ts';
import { instant } from './scalars.ts';
import { sessionState, turnFailure, turnOutcome } from './session.ts';
import { stageName, taskState, verdict } from './task.ts';
import { usageTotals } from './usage.ts';

// What a harness tells of its program, in one vocabulary (contracts/sessions.md).

/**
 * A text that is too large for its event: in the event stand its beginning and its end, the whole is at
 * `GET /sessions/:id/details/:locator`. `keptBytes` below `bytes`: what came behind a limit is not kept. No locator: nothing is.
 */
const detailRef = z.object({ locator: z.string().nullable(), bytes: z.int(), keptBytes: z.int() });
const large = { detail: detailRef.optional() };

/** Kinds of a conversation's events. `row` names the transcript row; a later event with the same row is a revision. */
export const conversationBody = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('user'), text: z.string(), attachments: z.array(attachmentFacts).optional(), ...large }),
  z.object({ kind: z.literal('turn.started'), conversation: z.string().nullable(), model: z.string().nullable() }),
  z.object({ kind: z.literal('text'), row: z.string(), text: z.string(), ...large, ...ofAgent }),
  z.object({ kind: z.literal('thinking'), row: z.string(), text: z.string(), ...large, ...ofAgent }),
  z.object({ kind: z.literal('tool.call'), row: z.string(), tool: z.string(), input: z.string(), ...large, ...ofAgent }),
  z.object({
    kind: z.literal('tool.result'),
    row: z.string(),
    tool: z.string().nullable(),
    output: z.string(),
    outputBytes: z.int(),
    failed: z.boolean(),
    pictures: z.array(toolPicture).optional(),
    ...large,
    ...ofAgent,
  }),
  ...contentBodies,
  z.object({ kind: z.literal('usage'), inputTokens: z.int(), outputTokens: z.int(), cachedTokens: z.int() }),
  z.object({ kind: z.literal('notice'), level: z.enum(['info', 'warning', 'error']), text: z.string() }),
  z.object({
    kind: z.literal('turn.ended'),
    outcome: turnOutcome,
    failure: turnFailure.nullable(),
    message: z.string().nullable(),
    /** When a usage limit ends, if the program or the provider said so. */
    resetsAt: instant.nullable(),
  }),
]);
export type ConversationBody = z.output<typeof conversationBody>;

/** A pull request that was opened, brought up to other commits, or is in another state. */
const pulled = {
  number: z.int(),
  url: z.string(),
  state: z.enum(['open', 'merged', 'closed']),
  headSha: z.string(),
};

/** Kinds of a task's own events. */
export const taskBody = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('task.created') }),
  z.object({ kind: z.literal('task.state'), state: taskState, waitingFor: z.string().nullable() }),
  z.object({ kind: z.literal('attempt.started'), attempt: z.int(), backend: z.string() }),
  z.object({ kind: z.literal('stage.started'), attempt: z.int(), stage: stageName, round: z.int() }),
  z.object({
    kind: z.literal('stage.output'),
    attempt: z.int(),
    stage: stageName,
    round: z.int(),
    stream: z.enum(['stdout', 'stderr']),
    text: z.string(),
  }),
  /** The full screen of an agent program is there to be connected to. */
  z.object({ kind: z.literal('terminal.opened'), attempt: z.int(), environmentId: z.string(), terminal: z.string() }),
  z.object({
    kind: z.literal('stage.ended'),
    attempt: z.int(),
    stage: stageName,
    round: z.int(),
    state: z.enum(['passed', 'failed', 'skipped', 'timeout', 'interrupted']),
    exitCode: z.int().nullable(),
    note: z.string().nullable(),
    tookMs: z.int(),
  }),
  z.object({
    kind: z.literal('attempt.ended'),
    attempt: z.int(),
    verdict,
    cause: z.string().nullable(),
    reason: z.string().nullable(),
  }),
  z.object({
    kind: z.literal('task.ended'),
    verdict,
    cause: z.string().nullable(),
    reason: z.string().nullable(),
    filesChanged: z.int(),
    usage: usageTotals,
  }),
  z.object({ kind: z.literal('egress.refused'), host: z.string(), port: z.int(), reason: z.string() }),
  z.object({
    kind: z.literal('egress.changed'),
    environmentId: z.string(),
    rule: z.string(),
    decision: z.enum(['allow', 'deny']),
  }),
  z.object({ kind: z.literal('task.applied'), branch: z.string().nullable(), headSha: z.string() }),
  z.object({ kind: z.literal('task.pull-request'), ...pulled }),
]);
export type TaskBody = z.output<typeof taskBody>;

/** Kinds of a session's own events, beside those of its conversation. */
export const sessionBody = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('state'), state: sessionState, reason: z.string().nullable() }),
  /** An input left the queue for the program, or was noted for the turn that runs. */
  z.object({ kind: z.literal('turn.dispatched'), turnId: z.string(), requestId: z.string(), steer: z.boolean() }),
  /** Inputs that wait were added, edited, moved or taken back; `waiting`: how many wait now. */
  z.object({ kind: z.literal('queue.changed'), waiting: z.int() }),
  /** Files or conversation were taken back. Rows after `after` and before this one are undone; they stay in the log. */
  z.object({
    kind: z.literal('rewound'),
    after: z.int(),
    checkpointId: z.string(),
    beforeId: z.string(),
    turn: z.int().nullable(),
    files: z.boolean(),
    conversation: z.boolean(),
    /** The program could not go back: it begins a new conversation with a record of what is kept. */
    replaced: z.boolean(),
    saved: z.array(z.string()),
  }),
  z.object({ kind: z.literal('checkpoint'), checkpointId: z.string() }),
  z.object({ kind: z.literal('turn.parked'), turnId: z.string(), reason: z.string() }),
  z.object({
    kind: z.literal('interaction.opened'),
    interactionId: z.string(),
    revision: z.int(),
    ask: interactionAsk,
    deadlineAt: instant.nullable(),
  }),
  z.object({
    kind: z.literal('interaction.settled'),
    interactionId: z.string(),
    asked: interactionKind,
    outcome: interactionOutcome,
    answers: answers.nullable().default(null),
    by: z.string().nullable(),
  }),
]);
export type SessionBody = z.output<typeof sessionBody>;

/** Kinds of node-wide events that belong to no task. */
export const nodeBody = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('node.started'), version: z.string() }),
  z.object({ kind: z.literal('node.stopping') }),
  z.object({ kind: z.literal('node.recovered'), tasks: z.int(), reattached: z.int(), interrupted: z.int(), tookMs: z.int() }),
  z.object({ kind: z.literal('project.added'), projectId: z.string() }),
  z.object({ kind: z.literal('project.changed'), projectId: z.string() }),
  z.object({ kind: z.literal('project.removed'), projectId: z.string() }),
  z.object({
    kind: z.literal('environment.changed'),
    environmentId: z.string(),
    state: environmentState,
    operation: environmentOperation.nullable(),
    reason: z.string().nullable(),
  }),
  z.object({ kind: z.literal('environment.removed'), environmentId: z.string() }),
  z.object({ kind: z.literal('environment.pull-request'), environmentId: z.string(), ...pulled }),
  z.object({ kind: z.literal('session.changed'), sessionId: z.string(), state: sessionState }),
  /** A session was deleted, and its log with it. */
  z.object({ kind: z.literal('session.removed'), sessionId: z.string() }),
  /** A person's own program attached, or its process is over. */
  z.object({ kind: z.literal('attached.changed'), sessionId: z.string(), state: attachedState }),
  z.object({ kind: z.literal('queue.paused') }),
  z.object({ kind: z.literal('queue.resumed') }),
  z.object({ kind: z.literal('salvage.saved'), projectId: z.string(), ref: z.string(), taskId: z.string().nullable() }),
]);
export type NodeBody = z.output<typeof nodeBody>;

export type EventBody = ConversationBody | TaskBody | SessionBody | NodeBody;
export const eventBody = z.union([conversationBody, taskBody, sessionBody, nodeBody]);

/** One event. `seq` counts the node's events; `sequence` the events of one task or session, contiguous from 1. */
export const event = z.object({
  seq: z.int(),
  at: instant,
  taskId: z.string().nullable(),
  /** Only where it is an event of a session. */
  sessionId: z.string().optional(),
  sequence: z.int().nullable(),
  turn: z.int().nullable(),
  body: eventBody,
});
export type OrreryEvent = z.output<typeof event>;
