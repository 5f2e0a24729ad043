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
    default:
      return body.kind;
  }
};

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
