import { toOrreryError } from '@orrery/protocol';
import { errorFields } from '../../kernel/log.ts';
import { beginStage, endStage, stageOf, taskEvent, type OpenAttempt } from '../attempt-context.ts';
import { requireHook } from './hook.ts';

/**
 * `init.sh`, unless what it leaves was taken from an earlier one. What it left is kept for others, where the project says
 * which folders that is: before any agent has been there, and only by the start of the node that saw it pass.
 */
export const initialise = async (open: OpenAttempt): Promise<void> => {
  const { setup } = open.prepared;
  const before = await stageOf(open, 'init', 1);
  if (setup?.reused === true) {
    const row = before ?? (await beginStage(open, 'init', 1));
    const note = 'not run: scripts, lock files, image and backend are those of an earlier init.sh, and what it left was taken';
    endStage(open, row, { state: 'skipped', exitCode: null, note, output: null });
    return;
  }
  await requireHook(open, 'init');
  if (setup !== undefined && (before === null || before.ended_at === null)) await keep(open, setup.key);
};

const keep = async (open: OpenAttempt, key: string): Promise<void> => {
  const { parts, prepared, journal } = open;
  const why = await parts.workspace
    .keepSetup(prepared.place.checkoutId, { key, paths: prepared.settings.cache })
    .catch((thrown: unknown) => {
      parts.log.warn('setup.keep.failed', { task: open.task.id, ...errorFields(thrown) });
      return toOrreryError(thrown).message;
    });
  if (why === null) return;
  const text = `What init.sh left is not kept for other tasks: ${why}.`;
  await journal.transaction((tx) => tx.append([taskEvent(open, null, { kind: 'notice', level: 'warning', text })]));
};
