import type { EnvironmentView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import { inert } from '../../inert.ts';
import { shellWord } from '../../wording.ts';
import type { CommandContext, Outcome } from '../command.ts';
import { environmentText } from './show.ts';

/** How often an environment is looked at while something is done to it. */
const LOOK_MS = 250;

/**
 * Shows what is done to an environment until it is done, its set-up's output on standard error, and ends with a failure
 * when it failed. With `--detach` it only says how to look. Ctrl-C stops watching; the work goes on.
 */
export const followEnvironment = async (
  context: CommandContext,
  connection: Connection,
  begun: EnvironmentView,
): Promise<Outcome> => {
  if (context.input.flag('detach')) return shown(context, begun, [`  orrery env show ${begun.name}`]);
  const stop = new AbortController();
  const release = context.world.onStop(() => stop.abort());
  let at = begun.setup.state === 'running' ? 0 : await logEnd(connection, begun.id);
  let now = begun;
  try {
    while (now.operation !== null && !stop.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      now = await connection.client.call('environmentShow', { params: { id: begun.id } });
      at = await showLog(context, connection, { id: begun.id, at });
    }
  } finally {
    release();
  }
  if (stop.signal.aborted && now.operation !== null)
    return {
      ...shown(context, now, [`  It goes on: orrery env show ${now.name}`]),
      failure: { error: new OrreryError('stopped_watching', 'Stopped watching; the environment goes on.') },
    };
  if (now.state !== 'failed') return shown(context, now, nextOf(now));
  return {
    ...shown(context, now, []),
    failure: {
      error: new OrreryError('conflict', now.reason ?? `The environment ${now.name} failed.`, {
        rule: 'An environment is ready when it is running and set up.',
        fix: now.setup.state === 'failed' ? `orrery env setup ${now.name}` : `orrery env start ${now.name}`,
      }),
      exit: 1,
    },
  };
};

const nextOf = ({ name, state }: EnvironmentView): string[] => {
  if (state === 'ready') return [`  orrery run --env ${shellWord(name)} "fix the failing test"`];
  return state === 'stopped' ? [`  orrery env start ${shellWord(name)}`] : [];
};

const shown = (context: CommandContext, environment: EnvironmentView, hints: readonly string[]): Outcome => ({
  result: { environment },
  text: environmentText(context.screen, environment, context.world.now()),
  hints,
});

const logEnd = async ({ client }: Connection, id: string): Promise<number> =>
  (await client.call('environmentSetupLog', { params: { id }, query: { after: Number.MAX_SAFE_INTEGER } })).totalBytes;

const showLog = async (
  context: CommandContext,
  { client }: Connection,
  from: { readonly id: string; readonly at: number },
): Promise<number> => {
  let { at } = from;
  for (;;) {
    const page = await client.call('environmentSetupLog', { params: { id: from.id }, query: { after: at } });
    // A recreated environment begins its log anew.
    if (page.totalBytes < at) at = 0;
    else at = page.offset;
    if (page.text === '') return at;
    for (const line of page.text.replace(/\n$/, '').split('\n')) context.note(`  │ ${inert(line)}`);
  }
};
