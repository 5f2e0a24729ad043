// What each agent program makes of a model that lets it down: what it cannot have stands here with the capability that says so.
import { acpNames, agentNames, type TalkerName } from './agents.ts';

/** Whether a program ends its turn by a broken call, or makes it again and goes on. */
type Mending = 'ends' | 'again';

export type Frailty = {
  readonly name: TalkerName;
  /** It asks before it acts. */
  readonly asks: boolean;
  /** An answer that is cut, and one that falls silent in the middle. */
  readonly cut: Mending;
  readonly hang: Mending;
  /** Ten thousand pieces in one answer, as fast as they come: it tells all of them, or says that it gave up. */
  readonly flood: 'whole' | 'gives up';
  /** What it makes of 20 MB that a tool prints: the model gets a part, or it says that this was too much. */
  readonly output: 'part' | 'too much';
  /** When it is told why something was not allowed: in the turn, or with the next words. */
  readonly told: 'now' | 'next';
  /** Seconds that a usage limit holds: longer than the program waits before it asks once more. */
  readonly limitSeconds: number;
};

const both = { cut: 'ends', hang: 'ends', flood: 'whole', output: 'part', limitSeconds: 4 } as const;

export const frailties: readonly Frailty[] = [
  { ...both, name: 'claude', asks: true, told: 'now' },
  { ...both, name: 'codex', asks: true, told: 'now' },
  { ...both, name: 'pi', asks: false, told: 'now' },
  { ...both, name: 'opencode', asks: true, told: 'next', cut: 'again', hang: 'again', limitSeconds: 6 },
  { ...both, name: 'gemini', asks: true, told: 'next', output: 'too much' },
  { ...both, name: 'copilot', asks: true, told: 'next', cut: 'again', hang: 'again', flood: 'gives up', limitSeconds: 9 },
  { ...both, name: 'qwen', asks: true, told: 'next' },
];

export const frailtiesOf = (which: 'own' | 'acp'): readonly Frailty[] =>
  frailties.filter(({ name }) => (which === 'own' ? agentNames : acpNames).some((one) => one === name));
