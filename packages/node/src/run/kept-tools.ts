import type { AgentTools } from '@orrery/protocol';
import type { Harness } from '../harness/harness.ts';
import { refuseTools } from '../harness/tool-lists.ts';
import { keptAgent } from '../store/kept-agent.ts';

/** The tools of the agent that a row keeps; null: all. @throws OrreryError unsupported when its program cannot be held to them */
export const keptTools = (harness: Harness, row: { readonly agent: string | null }): AgentTools | null => {
  const agent = keptAgent(row);
  const tools = agent?.tools ?? null;
  if (agent !== null) refuseTools(harness, agent.name, tools);
  return tools;
};
