// The skills of its agent, as a plugin of one folder: what is in no folder of its own settings is not there for others.

import { dirname, relative } from 'node:path';
import type { TurnContext } from '../harness.ts';

type Skilled = Pick<TurnContext, 'skills' | 'home'>;

export const pluginArguments = ({ skills = null }: Skilled): readonly string[] =>
  skills === null ? [] : ['--plugin-dir', dirname(skills)];

/** Its own file, beside the skills: it names them `agent:NAME`. */
export const skillsPlugin = ({ skills = null, home }: Skilled): Readonly<Record<string, string>> =>
  skills === null
    ? {}
    : { [relative(home, `${dirname(skills)}/.claude-plugin/plugin.json`)]: JSON.stringify({ name: 'agent', version: '1.0.0' }) };
