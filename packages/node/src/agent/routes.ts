import type { OperationHandlers } from '@orrery/protocol';
import type { Agents, AgentsAt } from './service.ts';

/** Handlers of the agent operations. `newest`: the commit of a project at which work would begin now. */
export const agentHandlers = (
  agents: Agents,
  newest: (project: string) => Promise<AgentsAt>,
): Pick<OperationHandlers, 'agentList' | 'agentShow'> => {
  const at = async ({ project }: { readonly project?: string | undefined }): Promise<AgentsAt | null> =>
    project === undefined ? null : newest(project);
  return {
    agentList: async ({ query }) => ({ items: await agents.list(await at(query)) }),
    agentShow: async ({ params, query }) => agents.find(params.id, await at(query)),
  };
};
