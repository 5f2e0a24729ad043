import { OrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import { placeIdOf } from '../../names.ts';
import { shellWord } from '../../wording.ts';
import type { Command, CommandContext, Outcome } from '../command.ts';
import { runSession, type SessionEnd } from './terminal-session.ts';

const terminalName = (context: CommandContext): string => {
  const { TERM = '' } = context.world.env;
  return /^[A-Za-z0-9._+-]{1,64}$/.test(TERM) && TERM !== 'dumb' ? TERM : 'xterm-256color';
};

const sizeOf = ({ world }: CommandContext) =>
  // Some terminals do not know their size, and say 0.
  world.stdout.isTTY && world.stdout.columns > 0 && world.stdout.rows > 0
    ? { columns: Math.min(1_000, Math.max(1, world.stdout.columns)), rows: Math.min(1_000, Math.max(1, world.stdout.rows)) }
    : {};

type Ended = { readonly environment: string; readonly terminal: string; readonly end: SessionEnd };

const outcomeOf = ({ environment, terminal, end }: Ended): Outcome => {
  const result = { environment, terminal, ...end };
  if (end.kind === 'detached')
    return {
      result,
      hints: ['', `  It goes on. Come back: orrery env shell ${shellWord(environment)} --attach ${terminal}`],
    };
  if (end.exitCode === 0) return { result };
  const why = end.reason ?? end.signal ?? `exit ${end.exitCode ?? 'unknown'}`;
  const error = new OrreryError('agent_failed', `The program ended: ${why}.`, { details: result });
  return { result, failure: { error, exit: end.exitCode ?? 1 }, hints: end.reason === null ? [] : [`  It ended: ${why}.`] };
};

const begin = async (
  context: CommandContext,
  connection: Connection,
  asked: { readonly id: string; readonly command?: readonly string[]; readonly tty: boolean },
): Promise<Outcome> => {
  const { id, command, tty } = asked;
  const clipboard = context.input.flag('clipboard');
  const body = {
    tty,
    ...sizeOf(context),
    term: terminalName(context),
    ...(command === undefined ? {} : { command: [...command] }),
  };
  const { id: terminal, environmentId } = await connection.client.call('terminalOpen', { params: { id }, body });
  const end = await runSession(context, connection, { environment: environmentId, terminal, tty, mode: 'take', clipboard });
  return outcomeOf({ environment: id, terminal, end });
};

/** `orrery env shell`: a shell, or one that is there already. */
export const envShell: Command = async (context) => {
  const connection = await context.connect();
  const id = await placeIdOf(connection, context.input.argument('environment') ?? '');
  const attach = context.input.text('attach');
  if (!context.world.stdin.isTTY && !context.input.flag('watch'))
    throw new OrreryError('invalid_input', 'A shell needs a terminal.', {
      rule: 'Without one, run a command: its output and exit code are handed on.',
      fix: 'orrery env exec ENV -- COMMAND',
    });
  if (attach === null) return begin(context, connection, { id, tty: true });
  const mode = context.input.flag('watch') ? 'watch' : context.input.flag('take') ? 'take' : 'join';
  const { items } = await connection.client.call('terminalList', { params: { id } });
  const found = items.find((one) => one.id === attach);
  if (found === undefined)
    throw new OrreryError('not_found', `There is no terminal ${attach.slice(0, 200)} in this environment.`, {
      rule: 'One that runs already is named by its whole id.',
      fix: `orrery env logs ${shellWord(id)}`,
    });
  const { environmentId, tty } = found;
  context.note('  Ctrl-] leaves it running.');
  const end = await runSession(context, connection, {
    environment: environmentId,
    terminal: attach,
    tty,
    mode,
    clipboard: context.input.flag('clipboard'),
  });
  return outcomeOf({ environment: id, terminal: attach, end });
};

/** `orrery env exec`: a command, with a terminal when a person is at one. */
export const envExec: Command = async (context) => {
  const { input, world } = context;
  if (input.tail.length === 0)
    throw new OrreryError('invalid_input', 'There is no command.', {
      rule: 'It stands behind two dashes.',
      fix: 'orrery env exec ENV -- npm test',
    });
  const connection = await context.connect();
  const id = await placeIdOf(connection, input.argument('environment') ?? '');
  const tty = !input.flag('no-tty') && world.stdin.isTTY && world.stdout.isTTY;
  return begin(context, connection, { id, command: input.tail, tty });
};
