// What is kept of an agent by what it was asked for, and who cannot be told of it.

import { OrreryError, type AgentRef, type AgentView } from '@orrery/protocol';
import type { KeptAgent, KeptSkill } from '../store/kept-agent.ts';

/** What a row keeps of one. */
export const keptText = (agent: AgentView | null, skills: readonly KeptSkill[]): string | null => {
  if (agent === null) return null;
  const { name, source, path, hash, prompt, tools, mcp } = agent;
  return JSON.stringify({ name, source, path, hash, prompt, tools, skills, mcp } satisfies KeptAgent);
};

/** Words that would reach nobody. */
export const unheard = ({ name, source }: Pick<AgentRef, 'name' | 'source'>, harness: string): OrreryError =>
  new OrreryError('unsupported', `${harness} cannot be told what the agent ${name} is.`, {
    rule: 'It takes no system prompt; an agent is never run without its words.',
    fix: `orrery agent show ${source}:${name}`,
  });
