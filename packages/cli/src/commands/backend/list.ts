import { inertLine } from '../../inert.ts';
import { tableText } from '../../screen.ts';
import type { Command } from '../command.ts';

/** `orrery backend list`. */
export const backendList: Command = async (context) => {
  const { client } = await context.connect();
  const answer = await client.call('backendList');
  const { screen } = context;
  const rows = answer.items.map((one) => {
    const missing = one.guarantees.filter(({ held }) => !held).length;
    const mark = !one.usable || !one.allowed ? screen.bad('✗') : missing > 0 ? screen.careful('!') : screen.good('✓');
    const state = !one.allowed
      ? 'not allowed'
      : !one.usable
        ? 'not usable here'
        : missing > 0
          ? `lacks ${missing} of ${one.guarantees.length} guarantees`
          : 'holds every guarantee';
    return [
      `${mark} ${one.name}${one.isDefault ? ' (default)' : ''}`,
      state,
      inertLine(one.usable ? one.summary : (one.problem ?? one.summary)),
    ];
  });
  return {
    result: answer,
    text: tableText(screen, ['  backend', 'state', 'what it is'], rows),
    hints: [answer.items.every(({ usable }) => usable) ? '  orrery backend check' : '  orrery doctor'],
  };
};
