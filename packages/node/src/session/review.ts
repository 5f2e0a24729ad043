// What was changed in the files of a session, since its base or since a checkpoint.

import type { FileChange, SessionChangeSet } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol';
import { changeSetOf, fileChangeOf, type FileOf } from '../git/changes.ts';
import type { Git } from '../git/run.ts';
import type { Store } from '../store/store.ts';
import { checkpointNotFound, whyNotStill } from './checkpoint.ts';
import { findCheckpoint } from './checkpoint-store.ts';
import type { SessionConductor } from './doors.ts';
import { refuse } from './inputs.ts';
import { LOOKS } from './limits.ts';
import { isActive, type SessionRow } from './model.ts';
import type { Sessions } from './service.ts';
import { newestSequence, openTurns } from './store.ts';

export type ReviewParts = {
  readonly store: Store;
  readonly git: Git;
  readonly sessions: Pick<Sessions, 'find'>;
  readonly mirrorOf: (projectId: string) => string;
  conductor(): SessionConductor;
};

/** A reference is an id, the beginning of one, or a name. `from`: a checkpoint, or null for the base. */
export type SessionReview = {
  /** Looks at its files as they are now. Rejects with `conflict` while a turn runs. */
  changes(reference: string, from: string | null): Promise<SessionChangeSet>;
  /** What a look compares. Throws `conflict` when it is no longer known. */
  rangeOf(session: SessionRow, look: string): { readonly from: string; readonly to: string };
  /** One file of a look. Rejects with `conflict` when that look is no longer known. */
  change(reference: string, asked: FileOf & { readonly look: string; readonly whole: boolean }): Promise<FileChange>;
};

export const createSessionReview = (parts: ReviewParts): SessionReview => {
  const looks = createLooks();
  const rangeOf: SessionReview['rangeOf'] = (session, look) => {
    if (!looks.has(session.id, look)) throw lookGone(session);
    const [from = '', to = ''] = look.split('-');
    return { from, to };
  };
  return {
    rangeOf,
    changes: async (reference, from) => {
      const session = await parts.sessions.find(reference);
      const open = await openTurns(parts.store.read, session.id);
      if (open.some(isActive)) throw turnRuns(session);
      refuse(whyNotStill(session, open));
      const sequence = await newestSequence(parts.store.read, session.key);
      const { baseSha, sha, notes } = await parts.conductor().look(session.id);
      const mirror = parts.mirrorOf(session.project_id);
      const [fromSha, to] = [await beginningOf(parts, session, { from, baseSha }), await treeOf(parts.git, mirror, sha)];
      const change = await changeSetOf(parts.git, mirror, { from: fromSha, to });
      const look = `${fromSha}-${to}`;
      looks.keep(session.id, look);
      return { ...change, look, sequence, notes: [...notes] };
    },
    change: async (reference, { look, ...asked }) => {
      const session = await parts.sessions.find(reference);
      return fileChangeOf(parts.git, parts.mirrorOf(session.project_id), { ...rangeOf(session, look), ...asked });
    },
  };
};

const beginningOf = async (
  { store }: ReviewParts,
  session: SessionRow,
  { from, baseSha }: { readonly from: string | null; readonly baseSha: string },
): Promise<string> => {
  if (from === null) return baseSha;
  const row = await findCheckpoint(store.read, session.id, from);
  if (row === null) throw checkpointNotFound(session.name, from);
  return row.sha;
};

/** The files of a commit by what they are: two looks at the same files are one. */
export const treeOf = (git: Git, gitDir: string, sha: string): Promise<string> =>
  git.text({ gitDir, args: ['rev-parse', '--verify', '--end-of-options', `${sha}^{tree}`] });

/** Looks that were answered, the newest ones: nothing else of the mirror is shown by asking for a look. */
const createLooks = () => {
  const kept = new Map<string, true>();
  const keyOf = (sessionId: string, look: string): string => `${sessionId} ${look}`;
  return {
    has: (sessionId: string, look: string): boolean => kept.has(keyOf(sessionId, look)),
    keep: (sessionId: string, look: string): void => {
      const key = keyOf(sessionId, look);
      kept.delete(key);
      kept.set(key, true);
      const [oldest] = kept.keys();
      if (kept.size > LOOKS && oldest !== undefined) kept.delete(oldest);
    },
  };
};

const turnRuns = ({ name }: SessionRow): OrreryError =>
  new OrreryError('conflict', `A turn runs in the session ${name}.`, {
    rule: 'Its files are looked at between its turns.',
    fix: `orrery session stop ${name}`,
  });

const lookGone = ({ name }: SessionRow): OrreryError =>
  new OrreryError('conflict', `That look at the files of ${name} is no longer known.`, {
    rule: `The last ${LOOKS} looks are, until the node ends.`,
    fix: 'Look again.',
  });
