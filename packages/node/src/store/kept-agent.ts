// What a row of a session or a task keeps of its agent: the definition as it was when that was asked for, as JSON.

import type { AgentRef, AgentTools, AgentView } from '@orrery/protocol';

/** Where a skill is: below the commit of the project, or with the user (null), where it is read as it is when a program starts. */
export type KeptSkill = { readonly name: string; readonly folder: string; readonly commit: string | null };

/** Where it came from, what its program is told, the tools that it may use (absent in older rows: all), its skills and MCP servers. */
export type KeptAgent = AgentRef & {
  readonly prompt: string;
  readonly tools?: AgentTools | null;
  readonly skills?: readonly KeptSkill[];
  readonly mcp?: AgentView['mcp'];
};

type Keeping = { readonly agent: string | null };

/** The one that a row keeps; null: none. */
export const keptAgent = ({ agent }: Keeping): KeptAgent | null => (agent === null ? null : (JSON.parse(agent) as KeptAgent));

/** The same as clients see it. */
export const agentRefOf = (row: Keeping): AgentRef | null => {
  const kept = keptAgent(row);
  if (kept === null) return null;
  const { name, source, path, hash } = kept;
  return { name, source, path, hash };
};
