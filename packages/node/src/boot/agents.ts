import { join } from 'node:path';
import { createAgents, type Agents, type AgentsAt } from '../agent/index.ts';
import type { Parts } from './parts.ts';

/** Agents, on the folders that are really there. */
export const openAgents = ({ projects, paths }: Pick<Parts, 'projects' | 'paths'>): Agents =>
  createAgents({ userFolder: join(paths.config, 'agents'), listTree: projects.listTree, readFiles: projects.readFiles });

/** The commit of a project at which work would begin now. */
export const newestOf =
  ({ projects }: Pick<Parts, 'projects'>) =>
  async (reference: string): Promise<AgentsAt> => {
    const { id: project } = await projects.resolve(reference);
    await projects.refresh(project);
    return { project, commit: await projects.resolveBase(project, null) };
  };
