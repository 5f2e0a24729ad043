import { join } from 'node:path';
import { shellWord } from '../../wording.ts';
import type { Command, CommandContext, Outcome } from '../command.ts';
import { inertLine } from '../../inert.ts';
import { OrreryError } from '@orrery/protocol/errors';
import { chooseSession } from './choose-session.ts';

const needsTerminal = ({ world, input, mode }: CommandContext): OrreryError | null => {
  const { stdin, stdout, env } = world;
  const name = input.argument('session');
  const rule =
    mode !== 'human'
      ? 'It draws for a person; programs use the commands of sessions.'
      : !stdin.isTTY || !stdout.isTTY
        ? 'Standard input or output is no terminal.'
        : env['TERM'] === 'dumb' || env['TERM'] === undefined
          ? 'This terminal cannot move its cursor (TERM).'
          : null;
  if (rule === null) return null;
  return new OrreryError('invalid_input', 'A chat needs a terminal.', {
    rule,
    fix:
      name === null
        ? 'orrery session start "look at the failing test"'
        : `orrery session send ${shellWord(name)} "now the other one"`,
  });
};

/** `orrery chat`. */
export const chat: Command = async (context) => {
  const refused = needsTerminal(context);
  if (refused !== null) throw refused;
  const connection = await context.connectOrStart();
  const { runChat } = await import('./run-chat.ts');
  const pastFile = join(context.paths.config, 'chat-inputs.jsonl');
  let session = await chooseSession(context, connection);
  for (;;) {
    const ended = await runChat(context, { connection, session, pastFile });
    if (ended.end.kind === 'switch') {
      ({ session } = ended.end);
      context.note(`  ${inertLine(session.name)}`);
      continue;
    }
    return outcomeOf(ended.session, ended.unsent, ended.end.kind === 'signal' ? ended.end.signal : null);
  }
};

type Left = { readonly id: string; readonly name: string; readonly state: string };

const outcomeOf = ({ id, name, state }: Left, unsent: readonly string[], signal: 'SIGINT' | 'SIGTERM' | null): Outcome => {
  const word = shellWord(inertLine(name));
  const back = `orrery chat ${word}`;
  const hints = [
    state === 'ended'
      ? `  The session has ended. Its log: orrery session log ${word}`
      : `  The session goes on. Come back: ${back}`,
    ...unsent.flatMap((text) => [
      '! The node did not say that it has this input; look at orrery session queue before you send it again:',
      `    ${inertLine(text)}`,
    ]),
  ];
  const result = { session: id };
  if (signal === null) return { result, hints };
  const error = new OrreryError('stopped_watching', 'Stopped watching; the session goes on.', { fix: back });
  return { result, hints, failure: { error, exit: signal === 'SIGTERM' ? 143 : 130 } };
};
