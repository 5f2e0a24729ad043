// Skills that an agent program is offered: folders with a SKILL.md below its home.

import { OrreryError } from '@orrery/protocol';
import type { Harness } from './harness.ts';

/** A folder of one session's or task's own, for programs that are told where to look. */
export const ownSkills = (owner: string): string => `.orrery/skills/${owner}/skills`;

/** @throws OrreryError unsupported for a program that knows no skills */
export const refuseSkills = ({ id, skills }: Pick<Harness, 'id' | 'skills'>, agent: string): void => {
  if (skills !== undefined) return;
  throw new OrreryError('unsupported', `${id} cannot be offered the skills of the agent ${agent}.`, {
    rule: 'It knows no skills; an agent is never run with less than its file says.',
    fix: `orrery agent show ${agent}`,
  });
};
