// What a person changes of a session that is there.

import { OrreryError, type PermissionMode, type Unattended } from '@orrery/protocol';
import type { SessionParts } from './doors.ts';
import type { SessionRow } from './model.ts';

/** What can be changed of a session. */
export type SessionChange = {
  readonly name?: string;
  readonly mode?: PermissionMode;
  readonly unattended?: Unattended;
  readonly model?: string;
  readonly effort?: string;
};

/** Throws `unsupported` for what its program cannot have changed. */
export const checkChange = (parts: SessionParts, { harness, name }: SessionRow, { mode, model, effort }: SessionChange): void => {
  if (mode !== undefined) parts.checkMode(harness, mode);
  const can = parts.abilities(harness);
  const what = model !== undefined && !can.models ? 'model' : effort !== undefined && !can.effort ? 'effort' : null;
  if (what === null) return model === undefined ? undefined : parts.checkModel(harness, model);
  throw new OrreryError('unsupported', `${harness} does not change its ${what} in the session ${name}.`, {
    rule: 'What a program can do is shown by its harness.',
    fix: `orrery harness show ${harness}`,
  });
};
