// What a conversation holds beside words and tool calls, as updates of an editor.
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { OrreryEvent } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';

type Body = OrreryEvent['body'];

const statuses = { pending: 'pending', active: 'in_progress', done: 'completed' } as const;

const aside = (text: string): SessionUpdate => ({
  sessionUpdate: 'agent_thought_chunk',
  content: { type: 'text', text: `${text}\n` },
});

/** Updates of such an event; null: it is none. */
export const contentUpdates = (body: Body): SessionUpdate[] | null => {
  switch (body.kind) {
    case 'plan':
      return [
        {
          sessionUpdate: 'plan',
          entries: body.entries.map(({ text, status }) => ({ content: text, priority: 'medium', status: statuses[status] })),
        },
      ];
    case 'context':
      // An editor is told only what the program itself said of its window.
      return body.windowTokens === null
        ? []
        : [{ sessionUpdate: 'usage_update', used: body.usedTokens, size: body.windowTokens }];
    case 'compacted':
      return [aside('What was said so far was summed up.')];
    case 'agent':
    case 'background': {
      const what = body.kind === 'agent' ? 'Sub-agent' : 'Beside the turn:';
      return [
        aside(`${what} ${inertLine(body.name)}, ${body.state}${body.summary === null ? '' : `: ${inertLine(body.summary)}`}`),
      ];
    }
    default:
      return null;
  }
};
