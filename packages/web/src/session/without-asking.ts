// What lets an agent do more than one thing without asking: a mode. A rule for one thing alone is proposed by the node. Pure.

import type { InteractionAsk, SessionView } from '@orrery/protocol';

export type Rule = {
  /** What else it lets be done. */
  readonly widens: string;
  readonly lines: readonly { readonly where: string; readonly text: string }[];
};

/** The narrowest rule that covers it; null: none does, since it is no permission that is asked for. */
export const withoutAsking = ({ kind }: Pick<InteractionAsk, 'kind'>, { name }: Pick<SessionView, 'name'>): Rule | null => {
  const mode = kind === 'edit' ? 'edits' : kind === 'command' || kind === 'tool' ? 'all' : null;
  if (mode === null) return null;
  return {
    widens:
      mode === 'edits'
        ? 'The mode edits: files are changed without asking, everything else is asked as before.'
        : 'The mode all: every command and every tool, not this one alone.',
    lines: [
      { where: 'for this session', text: `orrery session set ${name} --mode ${mode}` },
      { where: 'in an agent file of your own (agents/NAME.md beside your configuration)', text: `mode: ${mode}` },
    ],
  };
};
