import { inertLine } from '../../inert.ts';
import { placeIdOf } from '../../names.ts';
import { tableText } from '../../screen.ts';
import { agoText, bytesText, shellWord } from '../../wording.ts';
import type { Command } from '../command.ts';
import { runSession } from './terminal-session.ts';

/** `orrery env logs`: the programs that people started in an environment, or what one of them printed. */
export const envLogs: Command = async (context) => {
  const connection = await context.connect();
  const id = await placeIdOf(connection, context.input.argument('environment') ?? '');
  const { items } = await connection.client.call('terminalList', { params: { id } });
  const terminal = context.input.argument('terminal');
  if (terminal !== null) {
    const found = items.find((one) => one.id === terminal);
    const end = await runSession(context, connection, {
      environment: found?.environmentId ?? id,
      terminal,
      tty: found?.tty ?? true,
      mode: 'watch',
    });
    return { result: { environment: id, terminal, ...end } };
  }
  if (items.length === 0)
    return { result: { items }, text: `Nobody started anything there. Begin: orrery env shell ${shellWord(id)}` };
  const rows = items.map((one) => [
    one.id,
    one.state === 'ended' ? `ended (${one.reason ?? one.signal ?? one.exitCode ?? 'unknown'})` : one.state,
    one.tty ? 'terminal' : 'streams',
    String(one.viewers),
    agoText(one.startedAt, context.world.now()),
    inertLine(one.command.join(' ')),
  ]);
  return {
    result: { items },
    text: tableText(context.screen, ['terminal', 'state', 'kind', 'viewers', 'started', 'command'], rows),
    hints: [`  orrery env logs ${shellWord(id)} ${items.at(-1)?.id ?? ''}`],
  };
};

/** `orrery env stats`. */
export const envStats: Command = async (context) => {
  const connection = await context.connect();
  const id = await placeIdOf(connection, context.input.argument('environment') ?? '');
  const stats = await connection.client.call('environmentStats', { params: { id } });
  const memory = stats.memoryBytes === null ? 'unknown memory' : bytesText(stats.memoryBytes);
  const disk = stats.diskBytes === null ? 'unknown disk' : `${bytesText(stats.diskBytes)} on disk`;
  const processes = `${stats.processes ?? 'unknown'} ${stats.processes === 1 ? 'process' : 'processes'}`;
  return { result: stats, text: `${processes}, ${memory}, ${disk}` };
};
