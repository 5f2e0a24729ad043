import type { OrreryEvent } from '@orrery/protocol';
import { inertLine } from './inert.ts';
import { fit, type Screen } from './screen.ts';
import { countText } from './wording.ts';

type Body = OrreryEvent['body'];

const BOXES = { pending: '☐', active: '▸', done: '☑' } as const;

/** Lines of what a conversation holds beside words and tool calls; null: it is nothing of that. */
export const contentLines = (body: Body, screen: Screen): string[] | null => {
  switch (body.kind) {
    case 'plan':
      return body.entries.map(({ text, status }) => {
        const line = fit(`${BOXES[status]} ${inertLine(text)}`, screen.columns - 4);
        return `    ${status === 'done' ? screen.dim(line) : line}`;
      });
    case 'compacted':
      return [`  compacted ${compactedText(body)}`];
    case 'agent':
    case 'background':
      return [workLine(body, screen)];
    case 'context':
      return [];
    default:
      return null;
  }
};

/** `12,000 → 3,000 tokens (by itself)`. */
const compactedText = ({ beforeTokens, afterTokens, trigger }: Body & { kind: 'compacted' }): string => {
  const sizes = [beforeTokens, afterTokens].map((tokens) => (tokens === null ? '?' : tokens.toLocaleString('en')));
  return `${sizes.join(' → ')} tokens${trigger === 'auto' ? ' (by itself)' : ''}`;
};

const workLine = ({ kind, name, state, summary }: Body & { kind: 'agent' | 'background' }, screen: Screen): string => {
  const what = (kind === 'agent' ? 'sub-agent' : 'aside').padEnd(9);
  const mark = state === 'failed' ? screen.bad('✗') : state === 'stopped' || state === 'detached' ? screen.careful('!') : ' ';
  const came = summary === null ? '' : `: ${inertLine(summary)}`;
  return `${mark} ${fit(`${what} ${inertLine(name)}, ${state}${came}`, screen.columns - 2)}`;
};

/** How full a model's window is, in words. */
export const contextText = ({
  usedTokens,
  windowTokens,
}: {
  readonly usedTokens: number;
  readonly windowTokens: number | null;
}): string => {
  const used = usedTokens.toLocaleString('en');
  if (windowTokens === null || windowTokens === 0) return countText(usedTokens, 'token');
  return `${used} of ${windowTokens.toLocaleString('en')} tokens (${Math.round((usedTokens / windowTokens) * 100)} %)`;
};
