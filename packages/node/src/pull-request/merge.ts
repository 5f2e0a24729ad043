import { OrreryError, toOrreryError, type MergeMethod, type PullRequestMerged } from '@orrery/protocol';
import { appendAudit } from '../audit/index.ts';
import type { CodeHost, Pull } from '../codehost/codehost.ts';
import { pullOver, toPullRequest, type PullRequestRow, type Subject } from './model.ts';
import { notePull, type OpenParts } from './open.ts';
import { pullRequestById } from './store.ts';

/** What a person asks for, of what they saw. */
export type MergeAsked = {
  readonly headSha: string;
  /** Null: the first that the repository allows. */
  readonly method: MergeMethod | null;
  readonly actor: string;
};

type At = { readonly subject: Subject; readonly row: PullRequestRow & { readonly number: number }; readonly host: CodeHost };

/** Has its host merge the one that is there. It is looked at before, and again where the answer was lost: asked for twice, it is merged once. */
export const mergePullRequest = async (
  parts: OpenParts,
  subject: Subject,
  { row, asked }: { readonly row: PullRequestRow | null; readonly asked: MergeAsked },
): Promise<PullRequestMerged> => {
  if (row === null || row.number === null) throw nothingThere(subject.command);
  const at: At = { subject, row: { ...row, number: row.number }, host: parts.hosts.named(row.host) };
  const before = await look(parts, at);
  if (before.state === 'merged' && before.headSha === asked.headSha) return settled(parts, at, 'was-merged');
  if (before.state !== 'open') throw pullOver(before, subject.command);
  if (before.headSha !== asked.headSha) throw otherCommit(before, subject.command);
  const method = asked.method ?? (await at.host.standing(row.repository, before)).methods[0] ?? 'merge';
  try {
    await at.host.merge(row.repository, { number: at.row.number, headSha: asked.headSha, method });
  } catch (thrown) {
    // Nobody knows whether it was done: the host does.
    const done = toOrreryError(thrown).code === 'codehost_unreachable' && (await look(parts, at)).state === 'merged';
    if (!done) {
      await audit(parts, at, { asked, method, outcome: 'failed' });
      throw thrown;
    }
  }
  await look(parts, at);
  await audit(parts, at, { asked, method, outcome: 'done' });
  return settled(parts, at, 'merged');
};

const look = async (parts: OpenParts, { subject, row, host }: At): Promise<Pull> => {
  const pull = await host.view(row.repository, row.number);
  await notePull(parts, { subject, row: await pullRequestById(parts.store.read, row.id), pull });
  return pull;
};

const settled = async ({ store }: OpenParts, { row }: At, outcome: PullRequestMerged['outcome']): Promise<PullRequestMerged> => ({
  pullRequest: toPullRequest(await pullRequestById(store.read, row.id)),
  outcome,
});

const audit = async (
  { store, clock }: OpenParts,
  { subject, row }: At,
  { asked, method, outcome }: { readonly asked: MergeAsked; readonly method: MergeMethod; readonly outcome: 'done' | 'failed' },
): Promise<void> => {
  const detail = { host: row.host, repository: row.repository, number: row.number, method, headSha: asked.headSha };
  const entry = { actor: asked.actor, action: 'pull-request.merge', subject: subject.id, outcome, detail } as const;
  await store.transaction((tx) => appendAudit(tx.db, entry, clock.nowMs()));
};

const nothingThere = (command: string): OrreryError =>
  new OrreryError('conflict', 'There is no pull request to merge.', {
    rule: 'What is merged was opened before.',
    fix: `orrery ${command}`,
  });

const otherCommit = ({ number, headSha }: Pull, command: string): OrreryError =>
  new OrreryError('conflict', `The pull request #${number} is at ${headSha.slice(0, 10)} now.`, {
    rule: 'What is merged is the commit that was seen.',
    fix: `Look at it again, then: orrery ${command.replace(/ pr /, ' merge ')}`,
  });
