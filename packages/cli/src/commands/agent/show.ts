import type { AgentView } from '@orrery/protocol';
import { inert, inertLine } from '../../inert.ts';
import { factsText, type Screen } from '../../screen.ts';
import type { Command } from '../command.ts';
import { agentProject } from './list.ts';

const listed = (items: readonly string[]): string | null => (items.length === 0 ? null : items.map(inertLine).join(', '));

/** Facts of an agent, then what it is told. */
const agentText = (screen: Screen, agent: AgentView): string => {
  const facts = factsText(screen, [
    ['agent', inertLine(agent.name)],
    ['what', agent.description === null ? null : inertLine(agent.description)],
    ['from', `${agent.source}: ${inertLine(agent.path)}`],
    ['hash', agent.hash.slice(0, 12)],
    ['harness', agent.harness === null ? null : inertLine(agent.harness)],
    ['model', agent.model === null ? null : inertLine(agent.model)],
    ['effort', agent.effort === null ? null : inertLine(agent.effort)],
    ['mode', agent.mode],
    ['egress', listed(agent.egress)],
    ['budget', agent.budgetUsd === null ? null : `${agent.budgetUsd} USD`],
    ['tools', agent.tools?.allow == null ? null : agent.tools.allow.length === 0 ? 'none' : listed(agent.tools.allow)],
    ['not', listed(agent.tools?.deny ?? [])],
    ['skills', listed(agent.skills)],
    ['mcp', listed(agent.mcp.map(({ name, command }) => (command === null ? name : `${name} (${command.join(' ')})`)))],
    ['unattended', agent.unattended],
    ['ignored', listed(agent.ignored)],
    ['hides', listed(agent.hides)],
    ...(agent.problem ?? []).map((line, index): [string, string] => [index === 0 ? 'problem' : '', inertLine(line)]),
  ]);
  return agent.prompt === '' ? facts : `${facts}\n\n${inert(agent.prompt)}`;
};

/** `orrery agent show`. */
export const agentShow: Command = async (context) => {
  const connection = await context.connect();
  const id = context.input.argument('agent') ?? '';
  const agent = await connection.client.call('agentShow', { params: { id }, query: await agentProject(context, connection) });
  return { result: { agent }, text: agentText(context.screen, agent) };
};
