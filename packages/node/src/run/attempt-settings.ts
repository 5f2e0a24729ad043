import type { EnvironmentSpec, Limits } from '../exec/backend.ts';
import type { AttemptSettings } from './doors.ts';

/** The bounds of one program. */
export const limitsOf = (settings: AttemptSettings, wallMs: number): Limits => ({
  wallMs,
  outputBytes: settings.outputBytes,
  ...(settings.cpuSeconds === null ? {} : { cpuSeconds: settings.cpuSeconds }),
  ...(settings.memoryBytes === null ? {} : { memoryBytes: settings.memoryBytes }),
  ...(settings.processes === null ? {} : { processes: settings.processes }),
  ...(settings.diskBytes === null ? {} : { diskBytes: settings.diskBytes }),
});

/** What an environment is told of its image, and of what the project says besides. */
export const imageParts = ({
  image,
  variables,
  user,
}: AttemptSettings): Pick<EnvironmentSpec, 'image' | 'variables' | 'user'> => ({
  image,
  ...(variables === undefined ? {} : { variables }),
  ...(user === undefined ? {} : { user }),
});
