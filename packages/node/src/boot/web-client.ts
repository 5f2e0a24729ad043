import { join } from 'node:path';

/** Where the built web client is: the named folder, else that of the repository; a published package has its own, beside its emitted files. */
export const webClientFolder = (env: Readonly<Record<string, string | undefined>>): string =>
  env['ORRERY_WEB'] ??
  (import.meta.filename.endsWith('.ts')
    ? join(import.meta.dirname, '..', '..', '..', 'web', 'dist')
    : join(import.meta.dirname, '..', '..', 'web'));
