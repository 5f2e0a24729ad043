// The skills of the agent that a session or task keeps, carried in when its program starts.

import type { Environment } from '../exec/backend.ts';
import type { Harness } from '../harness/harness.ts';
import { refuseSkills } from '../harness/skills.ts';
import { keptAgent } from '../store/kept-agent.ts';
import type { ConductorParts } from './doors.ts';

/** Where they are inside; null: it has none. @throws OrreryError when its program cannot be offered them, or one is gone */
export const offerSkills = async (
  parts: Pick<ConductorParts, 'skillFiles'>,
  given: {
    readonly harness: Harness;
    readonly row: { readonly agent: string | null; readonly project_id: string | null };
    readonly environment: Pick<Environment, 'home' | 'writeHomeFile'>;
    readonly owner: string;
  },
): Promise<string | null> => {
  const { harness, row, environment, owner } = given;
  const agent = keptAgent(row);
  const skills = agent?.skills ?? [];
  if (agent === null || skills.length === 0) return null;
  refuseSkills(harness, agent.name);
  const folder = harness.skills?.(owner) ?? '';
  for (const skill of skills)
    for (const { path, content } of await parts.skillFiles(skill, row.project_id))
      await environment.writeHomeFile(`${folder}/${skill.name}/${path}`, content);
  return `${environment.home}/${folder}`;
};
