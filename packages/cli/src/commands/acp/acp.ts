import { OrreryError } from '@orrery/protocol/errors';
import { connect } from '../../connect.ts';
import { newRequestId } from '../../receipts.ts';
import type { Command, CommandContext } from '../command.ts';
import { createAgent } from './agent.ts';
import { createDesk, type Beginning } from './desk.ts';
import { createLink } from '../../patient-link.ts';
import { acpLimits } from './limits.ts';
import { editorPipe } from './pipe.ts';
import { modeOf } from './settings.ts';

const beginningOf = ({ input }: CommandContext): Beginning => {
  const mode = input.text('mode');
  const given = {
    agent: input.text('agent'),
    harness: input.text('harness'),
    model: input.text('model'),
    effort: input.text('effort'),
    backend: input.text('backend'),
    image: input.text('image'),
    mode: mode === null ? null : modeOf(mode),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
};

/** `orrery acp`: standard output carries the protocol alone, until the editor closes standard input. */
export const acp: Command = async (context) => {
  const { world, paths, input, mode } = context;
  if (mode !== 'human')
    throw new OrreryError('invalid_input', 'An editor is spoken with in its own protocol.', {
      rule: 'Standard output carries the Agent Client Protocol and nothing else, so that there is no --json.',
      fix: 'orrery acp',
    });
  const stop = new AbortController();
  const selection = { url: input.text('connection'), tokenFile: input.text('token-file'), stop: stop.signal };
  const link = createLink({
    first: () => context.connectOrStart(),
    again: () => connect(world, paths, selection),
    now: () => world.now(),
    sleep: (ms) => world.sleep(ms),
    signal: stop.signal,
    limits: acpLimits,
  });
  const requestId = (): string => newRequestId(world);
  const desk = createDesk({ link, beginning: beginningOf(context), newRequestId: requestId, note: (text) => context.note(text) });
  const pipe = editorPipe(world);
  const connection = createAgent(desk).connect(pipe.stream);
  const release = world.onStop(() => connection.close());
  try {
    await connection.closed;
  } finally {
    release();
    desk.close();
    stop.abort();
    link.close();
    pipe.close();
  }
  return { result: {} };
};
