import type { SessionView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import type { Command, CommandContext } from '../command.ts';

/** How long files that lie elsewhere may take to be looked at. */
const PATIENCE_MS = 600_000;

/** A person says so, on the command line or on the terminal. */
const confirm = async ({ input, mode, world }: CommandContext, { name }: SessionView): Promise<boolean> => {
  if (input.flag('yes')) return true;
  if (mode !== 'human' || !world.stdin.isTTY)
    throw new OrreryError('interaction_required', `Nobody was asked whether the session ${name} is to be deleted.`, {
      rule: 'What was said in it is gone for good; on a terminal that is asked.',
      fix: `orrery session delete ${name} --yes`,
    });
  const said = await world.stdin.readLine(`Delete ${inertLine(name)} and everything that was said in it? [y/N] `);
  return ['y', 'yes'].includes(said?.trim().toLowerCase() ?? '');
};

/** `orrery session delete`. */
export const sessionDelete: Command = async (context) => {
  const { client } = await context.connect();
  const session = await client.call('sessionShow', { params: { id: context.input.argument('session') ?? '' } });
  const { id, name } = session;
  if (!(await confirm(context, session))) return { result: { deleted: null }, text: `${inertLine(name)} stays.` };
  await context.change({
    intent: { session: id },
    send: () => client.call('sessionDelete', { params: { id }, timeoutMs: PATIENCE_MS }),
    resources: () => [id],
  });
  const { environment } = session;
  return {
    result: { deleted: id },
    text: `${context.screen.good('✓')} ${inertLine(name)} is deleted.`,
    hints: environment.state === 'deleted' ? [] : [`  Its environment stays: orrery env delete ${inertLine(environment.name)}`],
  };
};
