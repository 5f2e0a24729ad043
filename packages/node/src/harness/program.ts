import { OrreryError } from '@orrery/protocol/errors';
import type { InstalledProgram } from './harness.ts';

/** The program, or the error that says how to install it. */
export const requireProgram = (program: InstalledProgram | null, id: string): InstalledProgram => {
  if (program !== null) return program;
  throw new OrreryError('harness_not_installed', `The agent program of the harness ${id} is not installed.`, {
    rule: 'Agent programs are installed below the data directory, pinned to one version.',
    fix: `orrery harness install ${id}`,
  });
};
