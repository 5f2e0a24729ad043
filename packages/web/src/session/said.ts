// Rows of a log that are no words of anybody, in a sentence. Pure.

import type { EventBody } from '@orrery/protocol';
import { tokensText } from './work.ts';

/** What a row of bookkeeping says. */
export const bookkeeping = (body: EventBody): string => {
  switch (body.kind) {
    case 'compacted':
      return `What was said so far was summed up${body.trigger === 'auto' ? ' by itself' : ''}${tokens(body)}.`;
    case 'rewound':
      return rewound(body);
    case 'checkpoint':
      return `Saved as ${body.checkpointId}.`;
    case 'attempt.started':
      return `Attempt ${body.attempt} on ${body.backend}.`;
    case 'stage.started':
      return `${stageName(body)} …`;
    case 'stage.ended':
      return stageEnd(body);
    case 'attempt.ended':
      return `Attempt ${body.attempt}: ${body.verdict}${body.reason === null ? '' : `. ${body.reason}`}`;
    case 'egress.refused':
      return `! Not let out: ${body.host}:${body.port}, ${body.reason}`;
    case 'egress.changed':
      return `Egress: ${body.decision} ${body.rule}`;
    case 'task.applied':
      return `Applied${body.branch === null ? '' : ` as ${body.branch}`}.`;
    case 'task.pull-request':
      return `Pull request #${body.number}: ${body.state}.`;
    default:
      return body.kind;
  }
};

const stageName = ({ stage, round }: { readonly stage: string; readonly round: number }): string =>
  round > 1 ? `${stage} ${round}` : stage;

const marks = { passed: '✓', failed: '✗', skipped: '–', timeout: '✗', interrupted: '!' } as const;

const stageEnd = (body: Extract<EventBody, { kind: 'stage.ended' }>): string =>
  [
    `${marks[body.state]} ${stageName(body)}`,
    ...(body.state === 'passed' ? [] : [body.state]),
    ...(body.note === null ? [] : [body.note]),
  ].join(', ');

const tokens = ({ beforeTokens, afterTokens }: Extract<EventBody, { kind: 'compacted' }>): string =>
  beforeTokens === null
    ? ''
    : afterTokens === null
      ? ` (${tokensText(beforeTokens)} tokens before)`
      : ` (${tokensText(beforeTokens)} → ${tokensText(afterTokens)} tokens)`;

const rewound = ({ files, conversation, turn, checkpointId, replaced, saved }: Extract<EventBody, { kind: 'rewound' }>): string =>
  [
    `! ${files && conversation ? 'Files and conversation' : files ? 'Files' : 'The conversation'} went back to ${turn === null ? checkpointId : `before turn ${turn}`}.`,
    ...(replaced ? ['A new conversation was given a record of what is kept.'] : []),
    ...saved.map((ref) => `What nothing else had is saved as ${ref}.`),
  ].join(' ');
