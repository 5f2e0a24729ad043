// The MCP servers of the agent that a session or task keeps.

import type { Environment } from '../exec/backend.ts';
import type { Harness } from '../harness/harness.ts';
import { refuseMcp, type McpServer } from '../harness/mcp.ts';
import { keptAgent } from '../store/kept-agent.ts';

type Keeping = { readonly agent: string | null };

/** Names of the operator's servers, for the token of its run. */
export const grantedServers = (row: Keeping): readonly string[] =>
  (keptAgent(row)?.mcp ?? []).filter(({ command }) => command === null).map(({ name }) => name);

/** What its program is told; @throws OrreryError unsupported when it cannot be given them */
export const givenServers = (
  harness: Harness,
  row: Keeping,
  { brokerEndpoint }: Pick<Environment, 'brokerEndpoint'>,
): readonly McpServer[] => {
  const agent = keptAgent(row);
  const servers = agent?.mcp ?? [];
  if (agent !== null) refuseMcp(harness, agent.name, servers);
  return servers.map(({ name, command }) =>
    command === null ? { name, url: `${brokerEndpoint}/mcp/${name}` } : { name, command },
  );
};
