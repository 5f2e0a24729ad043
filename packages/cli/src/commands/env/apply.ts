import type { Client } from '@orrery/client';
import type { EnvironmentApplied } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { repositoryRoot } from '../../names.ts';
import { shellWord } from '../../wording.ts';
import type { Command, CommandContext, Outcome } from '../command.ts';

/** `orrery env apply`. */
export const envApply: Command = async (context) => applyEnvironment(context, context.input.argument('environment') ?? '');

/** `orrery session apply`: what its environment holds. */
export const sessionApply: Command = async (context) => {
  const { client } = await context.connect();
  const session = await client.call('sessionShow', { params: { id: context.input.argument('session') ?? '' } });
  return applyEnvironment(context, session.environment.id);
};

const applyEnvironment = async (context: CommandContext, id: string): Promise<Outcome> => {
  const { input, screen } = context;
  const { client } = await context.connect();
  const given = { branch: input.text('branch'), message: input.text('message') };
  const body = {
    mode: input.text('mode') === 'branch' ? ('branch' as const) : ('tree' as const),
    ...(given.branch === null ? {} : { branch: given.branch }),
    ...(given.message === null ? {} : { message: given.message }),
  };
  const applied = await context.change({
    intent: { id, ...body },
    send: () => client.call('environmentApply', { params: { id }, body, timeoutMs: 120_000 }),
    resources: ({ environmentId }) => [environmentId],
  });
  const where = applied.branch === null ? '' : `  branch ${inertLine(applied.branch)}`;
  return {
    result: applied,
    text: `${screen.good('✓')} ${applied.headSha.slice(0, 10)}${where}\n  ${inertLine(applied.note)}`,
    hints: await hintsOf(context, client, applied),
  };
};

const hintsOf = async ({ world }: CommandContext, client: Client, applied: EnvironmentApplied): Promise<string[]> => {
  if (applied.branch === null) return [];
  const { project } = await client.call('environmentShow', { params: { id: applied.environmentId } });
  const { source } = await client.call('projectShow', { params: { id: project.id } });
  const git = repositoryRoot(world.cwd) === source ? 'git' : `git -C ${shellWord(inertLine(source))}`;
  return [applied.treeUpdated ? `  ${git} log -1 --stat` : `  ${git} switch ${shellWord(applied.branch)}`];
};
