import { pick } from '../../names.ts';
import { durationText } from '../../wording.ts';
import type { Command } from '../command.ts';

/** How long an installation may take. */
export const INSTALL_MS = 900_000;

/** `orrery harness install`. */
export const harnessInstall: Command = async (context) => {
  const { client } = await context.connect();
  const { items } = await client.call('harnessList');
  const { id, pinnedVersion } = pick(items, context.input.argument('harness') ?? '', {
    of: (one) => [one.id],
    noun: 'harness',
    fix: 'orrery harness list',
  });
  context.note(
    `  Installing ${id}${pinnedVersion === null ? '' : ` ${pinnedVersion}`} below the data directory; this downloads it.`,
  );
  const installed = await context.change({
    intent: { id },
    send: (requestId) =>
      client.call('harnessInstall', { params: { id }, body: { requestId }, idempotencyKey: requestId, timeoutMs: INSTALL_MS }),
    resources: () => [id],
  });
  const how = installed.alreadyThere ? 'was there already' : `took ${durationText(installed.tookMs)}`;
  return {
    result: installed,
    text: `${context.screen.good('✓')} ${id} ${installed.version} (${how})  ${installed.path}`,
    hints: [`  orrery run --harness ${id} "fix the failing test"`],
  };
};
