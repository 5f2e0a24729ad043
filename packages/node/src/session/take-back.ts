// Parts of what was changed in the files of a session are taken back: a checkpoint of the files without them is made, and the
// session's files go there as they go to every checkpoint. So what was there is saved first, and a crash leaves nothing half.

import type { LeftOut, SessionRewound } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol';
import { writeRef } from '../git/mirror.ts';
import { refPart } from '../git/names.ts';
import { treeWithout } from '../git/pick.ts';
import type { Git } from '../git/run.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { createMutex } from '../kernel/mutex.ts';
import type { Store, Tx } from '../store/store.ts';
import { checkpointNotFound, whyNotStill } from './checkpoint.ts';
import { findCheckpoint, insertCheckpoint, type CheckpointRow } from './checkpoint-store.ts';
import type { SessionConductor } from './doors.ts';
import type { SessionHistory } from './history.ts';
import { refuse } from './inputs.ts';
import type { SessionRow } from './model.ts';
import { treeOf, type SessionReview } from './review.ts';
import type { Sessions } from './service.ts';
import { newestSequence, openTurns } from './store.ts';

export type TakeBackParts = {
  readonly store: Store;
  readonly git: Git;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  readonly sessions: Pick<Sessions, 'find'>;
  readonly review: Pick<SessionReview, 'rangeOf'>;
  readonly history: Pick<SessionHistory, 'rewind'>;
  readonly mirrorOf: (projectId: string) => string;
  conductor(): SessionConductor;
};

/** What is taken back, of a look at the files. */
export type TakeBack = { readonly look: string; readonly without: LeftOut };

/**
 * Makes it. Rejects with `conflict` while a turn runs, when the look is no longer known or the files are others than in it,
 * and as a result that is applied in part does; then nothing was changed.
 */
export const createTakeBack = (parts: TakeBackParts): ((reference: string, asked: TakeBack) => Promise<SessionRewound>) => {
  const mutex = createMutex();
  return async (reference, asked) => {
    const session = await parts.sessions.find(reference);
    return mutex.run(session.project_id, async () => {
      const target = await checkpointWithout(parts, session, asked);
      return parts.history.rewind(session.id, { to: target.id, what: 'files' }, (tx, now) => checkStill(tx, now, target));
    });
  };
};

const checkpointWithout = async (
  parts: TakeBackParts,
  session: SessionRow,
  { look, without }: TakeBack,
): Promise<CheckpointRow> => {
  const { store, git } = parts;
  const { from, to } = parts.review.rangeOf(session, look);
  refuse(whyNotStill(session, await openTurns(store.read, session.id)));
  const mirror = parts.mirrorOf(session.project_id);
  const tree = await treeWithout(git, mirror, { from, to, leftOut: without });
  const now = await findCheckpoint(store.read, session.id, await parts.conductor().checkpoint(session.id));
  if (now === null) throw checkpointNotFound(session.name, 'of now');
  if ((await treeOf(git, mirror, now.sha)) !== to) throw wentOn(session);
  const id = parts.ids('checkpoint');
  const ref = `refs/orrery/checkpoints/${refPart(session.id)}/${refPart(id)}`;
  const nowMs = parts.clock.nowMs();
  const sha = await commitOn(git, mirror, { parent: now.head_sha, tree, nowMs });
  await writeRef(mirror, { ref, sha });
  // Behind the event that tells of the checkpoint of now.
  const row = { ...now, id, ref, sha, sequence: now.sequence + 1, created_at: Math.max(nowMs, now.created_at + 1) };
  await store.transaction((tx) => insertCheckpoint(tx.db, row));
  return row;
};

/** Nothing was said or done since the checkpoint of now. */
const checkStill = async (tx: Tx, session: SessionRow, target: CheckpointRow): Promise<void> => {
  if ((await newestSequence(tx.db, session.key)) !== target.sequence) throw wentOn(session);
};

const commitOn = (
  git: Git,
  gitDir: string,
  { parent, tree, nowMs }: { readonly parent: string; readonly tree: string; readonly nowMs: number },
): Promise<string> => {
  const who = `Orrery <orrery@localhost> ${Math.floor(nowMs / 1_000)} +0000`;
  const input = `tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\nFiles without what was taken back\n`;
  return git.text({ gitDir, readOnly: false, args: ['hash-object', '-t', 'commit', '-w', '--stdin'], input });
};

const wentOn = ({ name }: SessionRow): OrreryError =>
  new OrreryError('conflict', `The session ${name} went on since that look.`, {
    rule: 'What is taken back is what was looked at.',
    fix: 'Look again.',
  });
