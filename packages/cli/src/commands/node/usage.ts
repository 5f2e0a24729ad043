import { inertLine } from '../../inert.ts';
import { taskIdOf } from '../../names.ts';
import { tableText } from '../../screen.ts';
import { costText, tokensText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** `orrery usage`. */
export const usage: Command = async (context) => {
  const connection = await context.connect();
  const given = context.input.text('task');
  const task = given === null ? undefined : await taskIdOf(connection, given);
  const answer = await connection.client.call('usageShow', { query: { task } });
  if (answer.items.length === 0)
    return {
      result: answer,
      text: 'No model was called. Tokens and cost are counted when an agent runs: orrery run "fix the failing test"',
    };
  const rows = answer.items.map((one) => [
    `${inertLine(one.provider)}/${inertLine(one.model)}`,
    String(one.calls),
    tokensText(one.inputTokens),
    tokensText(one.cachedTokens),
    tokensText(one.outputTokens),
    costText(one.costUsd),
  ]);
  const costs = answer.items.map(({ costUsd }) => costUsd);
  const total = costs.reduce<number | null>((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0);
  const hints = total === null ? ['  A cost is unknown when a model has no known price: orrery config explain prices'] : [];
  return {
    result: { ...answer, totalUsd: total },
    text: `${tableText(context.screen, ['model', 'calls', 'in', 'cached', 'out', 'cost'], rows)}\n${context.screen.dim('total')}  ${costText(total)}`,
    hints,
  };
};
