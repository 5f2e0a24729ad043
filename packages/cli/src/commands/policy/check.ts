import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import { agentProject } from '../agent/list.ts';
import type { Command } from '../command.ts';
import { idleLines, problemLines } from './list.ts';

/** `orrery policy check`. */
export const policyCheck: Command = async (context) => {
  const connection = await context.connect();
  const answer = await connection.client.call('policyList', { query: await agentProject(context, connection) });
  const { screen } = context;
  const files = answer.files.flatMap((file) =>
    file.problem === null
      ? [`${screen.good('✓')} ${inertLine(file.path)}: ${file.rules} ${file.rules === 1 ? 'rule' : 'rules'}`]
      : problemLines(screen, [file]),
  );
  const lines = [...files, ...idleLines(screen, answer.idle)];
  const text = lines.length === 0 ? `There is no policy file in ${inertLine(answer.folder)}.` : lines.join('\n');
  const wrong = answer.files.filter(({ problem }) => problem !== null);
  if (wrong.length === 0) return { result: answer, text };
  const error = new OrreryError(
    'config_invalid',
    `${wrong.length} policy ${wrong.length === 1 ? 'file' : 'files'} cannot be used.`,
    {
      rule: 'Until that is mended, everything is asked: no rule and no mode allows anything.',
      fix: 'orrery policy check',
    },
  );
  return { result: answer, text, failure: { error, exit: 1 } };
};
