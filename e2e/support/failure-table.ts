// What each agent program makes of a model that lets it down.
import { acpNames, agentNames, type TalkerName } from './agents.ts';

/** Whether a program ends its turn by a broken call, or makes it again and goes on. */
type Mending = 'ends' | 'again';

export type Frailty = {
  readonly name: TalkerName;
  /** An answer that is cut, and one that falls silent in the middle. */
  readonly cut: Mending;
  readonly hang: Mending;
  /** Seconds that a usage limit holds: longer than the program waits before it asks once more. */
  readonly limitSeconds: number;
};

const both = { cut: 'ends', hang: 'ends', limitSeconds: 4 } as const;

const frailties: readonly Frailty[] = [
  { ...both, name: 'claude' },
  { ...both, name: 'codex' },
  { ...both, name: 'pi' },
  { ...both, name: 'opencode', cut: 'again', hang: 'again', limitSeconds: 6 },
  { ...both, name: 'gemini' },
  { ...both, name: 'copilot', cut: 'again', hang: 'again', limitSeconds: 9 },
  { ...both, name: 'qwen' },
];

export const frailtiesOf = (which: 'own' | 'acp'): readonly Frailty[] =>
  frailties.filter(({ name }) => (which === 'own' ? agentNames : acpNames).some((one) => one === name));
