import { OrreryError } from '@orrery/protocol/errors';
import { connect } from '../../connect.ts';
import { createLink } from '../../patient-link.ts';
import { newRequestId } from '../../receipts.ts';
import type { Command, CommandContext } from '../command.ts';
import { mcpLimits } from './limits.ts';
import { createMembership, type Membership } from './membership.ts';
import { programPipe } from './pipe.ts';
import { serveTools } from './server.ts';
import { createTools } from './tools.ts';

/** `orrery mcp --attach`: standard output carries the protocol alone, until the program closes standard input. */
export const mcp: Command = async (context) => {
  const { world, input, mode } = context;
  checkAsked(context);
  if (mode !== 'human')
    throw new OrreryError('invalid_input', 'A program is spoken with in its own protocol.', {
      rule: 'Standard output carries the Model Context Protocol and nothing else, so that there is no --json.',
      fix: 'orrery mcp --attach',
    });
  const over = new AbortController();
  const link = linkOf(context, over.signal);
  const sleep = (ms: number): Promise<void> => world.sleep(ms);
  const requestId = (): string => newRequestId(world);
  const asked = { name: input.text('name'), harness: input.text('harness'), agent: input.text('agent'), folder: world.cwd };
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null));
  const note = (text: string): void => context.note(text);
  const membership = createMembership({ link, asked: given, newRequestId: requestId, sleep, note, signal: over.signal });
  const tools = createTools({ link, membership, folder: world.cwd, newRequestId: requestId, now: () => world.now(), sleep });
  try {
    // A node that is not there, or refuses, is said before the protocol begins.
    await membership.session();
    const living = membership.live();
    const why = await serve(context, { membership, tools });
    over.abort();
    await membership.leave();
    await living;
    if (why !== null) throw why;
  } finally {
    over.abort();
    link.close();
  }
  return { result: {} };
};

/** Until the program closes its end or a signal comes; answers why it was left. */
const serve = async (
  { world, note }: CommandContext,
  { membership, tools }: { readonly membership: Membership; readonly tools: ReturnType<typeof createTools> },
): Promise<OrreryError | null> => {
  const pipe = programPipe(world);
  const close = serveTools(pipe, { tools, introduce: (program) => membership.introduce(program), note: (text) => note(text) });
  const release = world.onStop(() => void close());
  try {
    return await pipe.closed;
  } finally {
    release();
    await close();
  }
};

const linkOf = (context: CommandContext, signal: AbortSignal): ReturnType<typeof createLink> => {
  const { world, paths, input } = context;
  const selection = { url: input.text('connection'), tokenFile: input.text('token-file') };
  return createLink({
    first: () => context.connect(),
    again: () => connect(world, paths, selection),
    now: () => world.now(),
    sleep: (ms) => world.sleep(ms),
    signal,
    limits: mcpLimits,
  });
};

const checkAsked = ({ input }: CommandContext): void => {
  if (input.flag('attach')) return;
  throw new OrreryError('invalid_input', 'The word --attach is missing.', {
    rule: 'A program gets the tools of the node by being attached to it as a session of its own.',
    fix: 'orrery mcp --attach',
  });
};
