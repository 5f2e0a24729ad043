// MCP servers that an agent's file names: commands of its own, and those of the operator's configuration.

import { closest, OrreryError, type AgentView } from '@orrery/protocol';

/** What is known of the operator's servers. */
type OperatorServers = Readonly<Record<string, { readonly projects: readonly string[] }>>;

/**
 * Refuses a server of the operator's that is not there, or that the agents of this project may not name: whoever may commit could else use a
 * credential of the operator. @throws OrreryError not_found, refused_by_policy
 */
export const refuseServers = (
  agent: AgentView,
  {
    servers,
    project,
  }: { readonly servers: OperatorServers; readonly project: { readonly id: string; readonly name: string } | null },
): void => {
  for (const { name, command } of agent.mcp) {
    if (command !== null) continue;
    const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (server === undefined) throw unknown(agent, name, Object.keys(servers));
    const named = project !== null && [project.id, project.name].some((one) => server.projects.includes(one));
    if (agent.source === 'user' || named) continue;
    throw new OrreryError('refused_by_policy', `The agent ${agent.name} names the MCP server ${name}.`, {
      rule: 'A file of a project names a server of the operator only where the operator lets that project.',
      fix: `Add "${project?.name ?? 'the project'}" to mcp.${name}.projects of the node: orrery config path`,
    });
  }
};

const unknown = (agent: AgentView, name: string, known: readonly string[]): OrreryError => {
  const guess = closest(name, [...known]);
  return new OrreryError('not_found', `There is no MCP server ${name}, which the agent ${agent.name} names.`, {
    rule:
      guess === null
        ? 'A name means a server below "mcp" of the configuration; else give a command.'
        : `Did you mean "${guess}"?`,
    fix: 'orrery config path',
  });
};
