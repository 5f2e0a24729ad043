// The rule that would allow just what is asked, as a chat prints it.

import { cutCells, visible } from './cells.ts';
import type { NodeLink } from './node-link.ts';

/** Its text and its file, with the command that adds it; or why there is none. */
export const ruleLines = async (link: Pick<NodeLink, 'client'>, interaction: string, columns: number): Promise<string[]> => {
  const { rule, why } = await link.client().call('policyPropose', { params: { id: interaction } });
  if (rule === null) return ['', cutCells(`  There is no rule for it. ${visible(why ?? '')}`, columns)];
  return [
    '',
    '  This rule would allow just that from now on:',
    ...rule.yaml
      .trimEnd()
      .split('\n')
      .map((line) => `    ${visible(line)}`),
    `  You add it to ${visible(rule.file)}, on another terminal or in the web client:`,
    `    orrery policy propose ${visible(interaction)} --add`,
  ];
};
