import type { NodePruned } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import { countText } from '../../wording.ts';
import type { Command, CommandContext, Outcome } from '../command.ts';

/** How long `down` waits when nothing is said. */
const PATIENCE_MS = 600_000;
const LOOK_EVERY_MS = 100;

/** `orrery down`: nothing running is done; otherwise it ends after looking that the node is gone. */
export const down: Command = async (context) => {
  const { input } = context;
  let connection: Connection;
  try {
    connection = await context.connect();
  } catch (thrown) {
    if (thrown instanceof OrreryError && thrown.code === 'node_not_running')
      return { result: { stopped: false }, text: 'No node is running. Start one: orrery up --detach' };
    throw thrown;
  }
  if (input.flag('dry-run')) return wouldPrune(context, connection);
  const now = input.flag('now');
  const prune = input.flag('prune');
  let pruned: NodePruned | null = null;
  await context.change({
    intent: { stop: true, now, ...(prune ? { prune } : {}) },
    send: async () => {
      if (prune) pruned = await connection.client.call('nodePrune', { body: {} });
      return connection.client.call('nodeDrain', { body: { stop: true, now } });
    },
  });
  if (pruned !== null) tell(context, pruned);
  const { running } = connection.node.tasks;
  if (running > 0)
    context.note(
      now
        ? `  ${countText(running, 'task')} go on in their keepers until the next start.`
        : `  Waiting for ${countText(running, 'running task')}; orrery down --now does not wait.`,
    );
  await gone(context, connection, input.number('timeout') ?? PATIENCE_MS);
  return { result: { stopped: true, ...prunedItems(pruned) }, text: `${context.screen.good('✓')} The node has stopped.` };
};

/** `--dry-run`: says what would go, and nothing is done. */
const wouldPrune = async ({ input }: CommandContext, { client }: Connection): Promise<Outcome> => {
  if (!input.flag('prune'))
    throw new OrreryError('invalid_input', '--dry-run says what --prune would remove.', { fix: 'orrery down --prune --dry-run' });
  const pruned = await client.call('nodePrune', { body: { dryRun: true } });
  const lines = pruned.items.flatMap(({ backend, removed, problem }) => [
    ...removed.map((name) => `${backend}: ${name} would go`),
    ...(problem === null ? [] : [`${backend}: nobody can tell what is there. ${problem}`]),
  ]);
  return { result: { stopped: false, pruned: pruned.items }, text: lines.length === 0 ? 'Nothing was left.' : lines.join('\n') };
};

/** What open environments need stays: it is theirs until they are closed. */
const tell = (context: CommandContext, { items }: NodePruned): void => {
  for (const { backend, removed, problem } of items) {
    if (removed.length > 0) context.note(`  ${backend}: removed what was left of ${countText(removed.length, 'environment')}.`);
    if (problem !== null) context.note(`  ${backend}: nobody can tell what is there. ${problem}`);
  }
};

const prunedItems = (pruned: NodePruned | null): { pruned?: NodePruned['items'] } =>
  pruned === null ? {} : { pruned: pruned.items };

const gone = async ({ world }: CommandContext, { client, local }: Connection, patienceMs: number): Promise<void> => {
  const isThere = async (): Promise<boolean> => {
    if (local !== null) return world.processes.isAlive(local.pid);
    return client.call('health', { timeoutMs: 2000 }).then(
      () => true,
      () => false,
    );
  };
  for (let waitedMs = 0; await isThere(); waitedMs += LOOK_EVERY_MS) {
    if (waitedMs > patienceMs)
      throw new OrreryError('deadline', 'The node has not stopped yet.', {
        rule: 'It takes no new work and stops when its tasks are over.',
        fix: 'orrery down --now',
      });
    await world.sleep(LOOK_EVERY_MS);
  }
};
