import { toOrreryError } from '@orrery/protocol';
import { setupLogFile, type NamedRow } from '../../environment/index.ts';
import { toInstant } from '../../kernel/clock.ts';
import type { AttemptSettings } from '../doors.ts';
import { settleProjectImage } from '../project-image.ts';
import { openLog } from './setup.ts';
import type { Step } from './step.ts';

/**
 * The settings of an environment with the image that its base commit asks for. What is built for it, and what that prints,
 * stands in the log of its set-up; its directory is there.
 */
export const settleImage = async (
  { parts, stopped }: Step,
  row: NamedRow,
  { baseSha, settings }: { readonly baseSha: string; readonly settings: AttemptSettings },
): Promise<AttemptSettings> => {
  if (settings.imageFrom === undefined) return settings;
  const log = await openLog(setupLogFile(parts.environmentsDirectory, row.id));
  // A log that cannot be written is told when it is closed.
  const write = (text: string): void => void log.write(`${text}\n`).catch(() => undefined);
  write(`── image, ${toInstant(parts.clock.nowMs())} ──`);
  try {
    return await settleProjectImage({ parts, projectId: row.project_id, baseSha, settings, signal: stopped, progress: write });
  } catch (thrown) {
    if (!stopped.aborted) write(`── image failed: ${toOrreryError(thrown).message} ──`);
    throw thrown;
  } finally {
    await log.close();
  }
};
