import { OrreryError } from '@orrery/protocol/errors';
import type { Harness, InstalledProgram } from './harness.ts';

/** Whether a program has to be there. */
export const needsProgram = ({ pin, own }: Pick<Harness, 'pin' | 'own'>): boolean => pin !== null || own !== undefined;

/** What a harness whose program is not there is refused with. */
export const notInstalled = ({ id, own }: Pick<Harness, 'id' | 'own'>): OrreryError =>
  own === undefined
    ? new OrreryError('harness_not_installed', `The program of harness ${id} is not installed.`, {
        rule: 'Agent programs are installed once, in a pinned version, below the data directory.',
        fix: `orrery harness install ${id}`,
      })
    : new OrreryError('harness_not_installed', `The program of harness ${id} is not here: ${own.command}.`, {
        rule: 'It is your own: the node looks for it on its PATH, or where harnesses.<name>.command of its configuration says.',
        fix: `Install it as its maker says, then: orrery harness show ${id}`,
      });

/** The program, or the error that says how to install it. */
export const requireProgram = (program: InstalledProgram | null, id: string): InstalledProgram => {
  if (program !== null) return program;
  throw new OrreryError('harness_not_installed', `The agent program of the harness ${id} is not installed.`, {
    rule: 'Agent programs are installed below the data directory, pinned to one version.',
    fix: `orrery harness install ${id}`,
  });
};

/** What an installation of the operator's own program is refused with. */
export const yourOwn = (id: string): OrreryError =>
  new OrreryError('unsupported', `The program of ${id} is your own: Orrery installs none for it.`, {
    rule: 'Its maker says how it is installed; the node finds it on its PATH, or where its configuration says.',
    fix: `orrery harness show ${id}`,
  });
