import { join } from 'node:path';
import type { AgentView, TaskIntent } from '@orrery/protocol';
import {
  createAgents,
  createSkills,
  keptText,
  refuseServers,
  taskWishOf,
  unheard,
  type AgentParts,
  type Agents,
  type AgentsAt,
  type AgentWish,
  type Skills,
} from '../agent/index.ts';
import type { Config } from '../config/config.ts';
import type { NodePaths } from '../config/paths.ts';
import { imageAsked } from '../environment/index.ts';
import type { TreeFile } from '../git/committed-tree.ts';
import type { Harness } from '../harness/harness.ts';
import { refuseMcp } from '../harness/mcp.ts';
import { refuseSkills } from '../harness/skills.ts';
import { refuseTools } from '../harness/tool-lists.ts';
import type { HarnessRegistry } from '../harness/registry.ts';
import type { Projects } from '../project/index.ts';
import type { TaskParts } from '../task/index.ts';
import { settleRequest } from './settle-request.ts';

/** What of the node agents need. */
type Ground = {
  readonly projects: Projects;
  readonly paths: NodePaths;
  readonly config: Config;
  readonly harnesses: Pick<HarnessRegistry, 'get'>;
};

/** The folders that are really there. */
const foldersOf = ({ projects, paths }: Pick<Ground, 'projects' | 'paths'>): AgentParts<TreeFile> => ({
  userFolder: join(paths.config, 'agents'),
  userSkills: join(paths.config, 'skills'),
  listTree: projects.listTree,
  readFiles: projects.readFiles,
});

/** Agents, on those folders. */
export const openAgents = (parts: Pick<Ground, 'projects' | 'paths'>): Agents => createAgents(foldersOf(parts));

/** Skills, on the same. */
export const openSkills = (parts: Pick<Ground, 'projects' | 'paths'>): Skills => createSkills(foldersOf(parts));

/**
 * What a session or task keeps of an agent that this program is to be. @throws OrreryError for a program that cannot be told its words,
 * held to its tools, offered its skills or given its servers, and for skills and servers that are not there
 */
export const fittingAgent = async (
  parts: Pick<Ground, 'projects' | 'paths' | 'config'>,
  agent: AgentView,
  { harness, at }: { readonly harness: Harness; readonly at: AgentsAt | null },
): Promise<string | null> => {
  if (agent.prompt !== '' && !harness.capabilities.systemPrompt) throw unheard(agent, harness.id);
  refuseTools(harness, agent.name, agent.tools);
  if (agent.skills.length > 0) refuseSkills(harness, agent.name);
  refuseMcp(harness, agent.name, agent.mcp);
  const project = at === null ? null : ((await parts.projects.byIds([at.project])).get(at.project) ?? null);
  refuseServers(agent, { servers: parts.config.current().mcp, project });
  return keptText(agent, await openSkills(parts).find(agent.skills, { agent: agent.name, at }));
};

/** The commit of a project at which work would begin now. */
export const newestOf =
  ({ projects }: Pick<Ground, 'projects'>) =>
  async (reference: string): Promise<AgentsAt> => {
    const { id: project } = await projects.resolve(reference);
    await projects.refresh(project);
    return { project, commit: await projects.resolveBase(project, null) };
  };

type Program = { readonly harness?: string; readonly model?: string; readonly effort?: string };

/** The request's own word, else the agent's. A model of another program than the agent's is not the agent's to choose. */
export const chosenProgram = (asked: Program, wish: Pick<AgentWish, 'harness' | 'model' | 'effort'> | null): Program => {
  const harness = asked.harness ?? wish?.harness ?? undefined;
  const same = wish !== null && (wish.harness === null || wish.harness === harness);
  const model = asked.model ?? (same ? (wish.model ?? undefined) : undefined);
  const effort = asked.effort ?? (same ? (wish.effort ?? undefined) : undefined);
  return {
    ...(harness === undefined ? {} : { harness }),
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
  };
};

/** Of two limits the smaller one; null is none. */
export const smaller = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

/** What the agent that a task names makes of its intent: never more than the request says itself, never more than its file says. */
export const withAgent =
  (parts: Ground): TaskParts['withAgent'] =>
  async (intent, { projectId, environment }) => {
    if (intent.agent === undefined) return { intent, kept: null };
    const at = projectId === null ? null : await beginningOf(parts, projectId, intent.base ?? null);
    const agent = await openAgents(parts).find(intent.agent, at);
    const wish = taskWishOf(agent);
    const { egress = [] } = intent;
    const budgetUsd = smaller(intent.budgetUsd ?? null, wish.budgetUsd);
    const settled: TaskIntent = {
      ...intent,
      ...chosenProgram(intent, wish),
      ...(egress.length + wish.egress.length === 0 ? {} : { egress: [...new Set([...egress, ...wish.egress])] }),
      ...(budgetUsd === null ? {} : { budgetUsd }),
    };
    const projectFile = at === null ? null : (await parts.projects.readHooks(at.project, at.commit)).settings;
    const request = environment === null ? settled : { ...settled, ...imageAsked(environment) };
    const { harness } = await settleRequest(parts, { request, projectId, projectFile });
    return { intent: settled, kept: await fittingAgent(parts, agent, { harness: parts.harnesses.get(harness), at }) };
  };

/** The commit at which a task of a project would begin now. */
const beginningOf = async ({ projects }: Pick<Ground, 'projects'>, project: string, base: string | null): Promise<AgentsAt> => {
  await projects.refresh(project);
  return { project, commit: await projects.resolveBase(project, base) };
};
