import { OrreryError, type LeftOut, type PullRequestOpened } from '@orrery/protocol';
import { appendAudit } from '../audit/index.ts';
import type { CodeHost, Pull } from '../codehost/codehost.ts';
import type { CodeHosts, HostedRepository } from '../codehost/hosts.ts';
import { writeRef } from '../git/mirror.ts';
import { refPart } from '../git/names.ts';
import { knownCommits } from '../git/pack.ts';
import { isAncestor } from '../git/publish.ts';
import type { Git } from '../git/run.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { intentHash } from '../kernel/intent.ts';
import type { Store } from '../store/store.ts';
import {
  branchForeign,
  checkBase,
  checkBranch,
  chooseBase,
  meant,
  nothingChanged,
  otherBase,
  pullOver,
  seenAt,
  toPullRequest,
  type PullRequestRow,
  type Subject,
} from './model.ts';
import { findPullRequest, insertPullRequest, pullRequestById, pullRequestByRequest, updatePullRequest } from './store.ts';
import { tellPull } from './tell.ts';

/** What a person asks for; what is null is taken from the work. */
export type Asked = {
  readonly title: string | null;
  readonly body: string | null;
  readonly draft: boolean;
  readonly base: string | null;
  readonly branch: string | null;
  readonly without: LeftOut;
  readonly requestId: string | null;
  /** Who asks, for the record. */
  readonly actor: string;
};

export type OpenParts = {
  readonly store: Store;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  readonly git: Git;
  readonly hosts: CodeHosts;
  mirrorOf(projectId: string): string;
  /** Called between steps; tests die there. */
  readonly step: (after: 'recorded' | 'pushed' | 'noted' | 'created') => Promise<void>;
};

/** What is known once the host was looked at, before anything of it is changed. */
type Plan = HostedRepository & {
  readonly subject: Subject;
  readonly asked: Asked;
  readonly row: PullRequestRow | null;
  readonly title: string;
  readonly branch: string;
  readonly base: string;
  readonly branches: ReadonlyMap<string, string>;
  readonly before: string | null;
  readonly headSha: string;
  readonly baseSha: string;
};

/** Pushes and opens, or goes on with what was begun. One at a time for each subject. */
export const openPullRequest = async (parts: OpenParts, subject: Subject, asked: Asked): Promise<PullRequestOpened> => {
  const { actor: _actor, requestId, ...wanted } = asked;
  const intent = intentHash({ kind: subject.kind, id: subject.id, ...wanted });
  const replay = requestId === null ? null : await answered(parts, { requestId, intent, command: subject.command });
  if (replay !== null) return replay;
  const plan = await look(parts, subject, asked);
  const id = await record(parts, plan, intent);
  await parts.step('recorded');
  if (plan.before !== plan.headSha) {
    const { branch, headSha: sha, before, branches } = plan;
    const mirror = parts.mirrorOf(subject.project.id);
    await plan.host.push(plan.repository, { mirror, branch, sha, before, has: branches.values() });
  }
  await parts.step('pushed');
  await notePushed(parts, plan, id);
  await parts.step('noted');
  const known = plan.row?.number ?? null;
  const { pull, made } =
    known === null ? await findOrCreate(plan) : { pull: await plan.host.view(plan.repository, known), made: false };
  await parts.step('created');
  return settle(parts, { ...plan, id, pull, made });
};

/** The answer of an earlier request with the same id; null: there is none, or it was not finished. */
const answered = async (
  { store }: OpenParts,
  { requestId, intent, command }: { requestId: string; intent: string; command: string },
): Promise<PullRequestOpened | null> => {
  const row = await pullRequestByRequest(store.read, requestId);
  if (row === null) return null;
  if (row.intent_hash !== intent)
    throw new OrreryError('request_conflict', 'Another pull request was asked for under this request id.', {
      rule: 'A request id stands for one intent.',
      fix: `Repeat it without that id: orrery ${command}`,
    });
  return row.answer === null ? null : { ...(JSON.parse(row.answer) as PullRequestOpened), replayed: true };
};

/** Looks at both sides; nothing is changed. Rejects when what is asked for cannot be. */
const look = async (parts: OpenParts, subject: Subject, asked: Asked): Promise<Plan> => {
  const { command, project } = subject;
  const branch = asked.branch ?? subject.branch;
  checkBranch(branch, command);
  const { host, repository } = parts.hosts.ofRemotes(await subject.remotes(), project.name);
  await host.checkToken();
  const row = await findPullRequest(parts.store.read, { subject, host: host.name, repository, branch });
  if (row !== null && row.number !== null) await checkOpen(parts, { subject, row, host, asked });
  const branches = await host.branches(repository);
  const chosen = chooseBase(subject, { asked: asked.base, branch, branches });
  const base = chosen ?? (await host.defaultBranch(repository));
  checkBase(base, { branch, branches, where: repository, command });
  const title = asked.title ?? row?.title ?? subject.title;
  const before = branches.get(branch) ?? null;
  const { headSha, baseSha } = await subject.head({ title, without: asked.without, before: row?.pushed_sha ?? null });
  if (headSha === baseSha) throw nothingChanged(command);
  await checkLease(parts, { subject, row, branch, before, headSha, where: repository });
  return { host, repository, subject, asked, row, title, branch, base, branches, before, headSha, baseSha };
};

const checkOpen = async (
  parts: OpenParts,
  { subject, row, host, asked }: { subject: Subject; row: PullRequestRow; host: CodeHost; asked: Asked },
): Promise<void> => {
  const pull = await host.view(row.repository, row.number ?? 0);
  await notePull(parts, { subject, row, pull });
  if (pull.state !== 'open') throw pullOver(pull, subject.command);
  if (asked.base !== null && asked.base !== pull.base) throw otherBase(pull, subject.command);
};

/** Records what a host says of one, and tells when it is in another state than was known. */
export const notePull = async (
  { store, clock }: Pick<OpenParts, 'store' | 'clock'>,
  { subject, row, pull }: { subject: Pick<Subject, 'kind' | 'id'>; row: PullRequestRow; pull: Pull },
): Promise<void> => {
  const nowMs = clock.nowMs();
  const moved = row.state !== pull.state;
  await store.transaction(async (tx) => {
    await updatePullRequest(tx.db, row.id, { ...seenAt(pull, nowMs), ...(moved ? { changed_at: nowMs } : {}) });
    if (moved) await tellPull(tx, subject, { ...pull, headSha: row.pushed_sha ?? pull.headSha });
  });
};

/** The branch there must be nobody's, or ours: what the node pushed, or meant to when it was cut off, or what this goes on from. */
const checkLease = async (
  parts: OpenParts,
  given: { subject: Subject; row: PullRequestRow | null; branch: string; before: string | null; headSha: string; where: string },
): Promise<void> => {
  const { subject, row, branch, before, headSha, where } = given;
  if (before === null || before === headSha) return;
  if (row !== null && (before === row.pushed_sha || before === row.pushing_sha)) return;
  const gitDir = parts.mirrorOf(subject.project.id);
  // A row alone is no push: one that was refused leaves one, too.
  const ours = row !== null && row.pushed_sha !== null;
  const known = ours && (await knownCommits(parts.git, gitDir, [before])).length > 0;
  if (known && (await isAncestor(parts.git, { gitDir }, { older: before, newer: headSha }))) return;
  throw branchForeign(branch, { where, sha: before, command: subject.command });
};

/** Writes down what is about to be done; the commit has a name in the mirror first. */
const record = async (parts: OpenParts, plan: Plan, intent: string): Promise<string> => {
  const { store, clock, ids } = parts;
  const { row, subject, asked, before, headSha } = plan;
  const id = row?.id ?? ids('pullRequest');
  await writeRef(parts.mirrorOf(subject.project.id), { ref: `refs/orrery/pulls/${refPart(id)}`, sha: headSha });
  const nowMs = clock.nowMs();
  // What a cut off push came to is seen now; it counts as pushed from here on.
  const pushed = row === null ? null : before !== null && before === row.pushing_sha ? before : row.pushed_sha;
  const next = {
    ...{ pushing_sha: headSha, pushed_sha: pushed, request_id: asked.requestId, intent_hash: intent, answer: null },
    ...(row?.number == null ? { state: 'pushing', title: plan.title, base: plan.base, draft: asked.draft ? 1 : 0 } : {}),
    changed_at: nowMs,
  };
  const first = { subject_kind: subject.kind, subject_id: subject.id, project_id: subject.project.id, host: plan.host.name };
  await store.transaction(async (tx) => {
    if (row !== null) return updatePullRequest(tx.db, id, next);
    const made = { id, ...first, repository: plan.repository, branch: plan.branch, number: null, url: null, checked_at: null };
    const said = { title: plan.title, base: plan.base, draft: asked.draft ? 1 : 0, state: 'pushing' };
    return insertPullRequest(tx.db, { ...made, ...said, ...next, created_at: nowMs });
  });
  return id;
};

const notePushed = async ({ store }: OpenParts, { row, headSha }: Plan, id: string): Promise<void> => {
  const state = row?.number == null ? { state: 'creating' } : {};
  await store.transaction((tx) => updatePullRequest(tx.db, id, { pushed_sha: headSha, pushing_sha: null, ...state }));
};

/** The one that the host has of this branch, else a new one: it is looked for first, since an earlier answer may be lost. */
const findOrCreate = async (plan: Plan): Promise<{ pull: Pull; made: boolean }> => {
  const { host, repository, branch, base, title, headSha, asked, subject } = plan;
  const found = meant(await host.find(repository, branch), headSha);
  if (found !== null) return { pull: found, made: false };
  const body = asked.body ?? subject.body;
  const made = await host.create(repository, { title, body, branch, base, draft: asked.draft });
  if (made !== null) return { pull: made, made: true };
  const other = meant(await host.find(repository, branch), headSha);
  if (other !== null) return { pull: other, made: false };
  throw new OrreryError('codehost_refused', `${host.name} says that there is a pull request of ${branch}, and shows none.`, {
    rule: 'A second one is never opened.',
    fix: `orrery ${subject.command}`,
  });
};

type Settled = Plan & { readonly id: string; readonly pull: Pull; readonly made: boolean };

const settle = async (parts: OpenParts, settled: Settled): Promise<PullRequestOpened> => {
  const { store, clock } = parts;
  const { id, pull, subject, row, asked, headSha } = settled;
  const isNew = row?.number == null;
  const outcome = isNew ? 'opened' : settled.before === headSha ? 'unchanged' : 'updated';
  const note = await noteOf(parts, settled, outcome);
  const nowMs = clock.nowMs();
  return store.transaction(async (tx) => {
    await updatePullRequest(tx.db, id, { ...seenAt(pull, nowMs), changed_at: nowMs });
    const pullRequest = toPullRequest(await pullRequestById(tx.db, id));
    const answer: PullRequestOpened = { pullRequest, outcome, note, replayed: false };
    await updatePullRequest(tx.db, id, { answer: JSON.stringify(answer) });
    if (outcome !== 'unchanged') {
      await tellPull(tx, subject, { ...pull, headSha });
      const detail = { host: settled.host.name, repository: settled.repository, branch: pull.branch, number: pull.number };
      const action = outcome === 'opened' ? 'pull-request.open' : 'pull-request.push';
      await appendAudit(tx.db, { actor: asked.actor, action, subject: subject.id, outcome: 'done', detail }, nowMs);
    }
    return answer;
  });
};

const noteOf = async (parts: OpenParts, settled: Settled, outcome: PullRequestOpened['outcome']): Promise<string> => {
  const { pull, made, asked, headSha, branch } = settled;
  const done = {
    opened: made ? `It goes from ${branch} into ${pull.base}.` : `It was there already, from ${branch} into ${pull.base}.`,
    updated: `${branch} is at ${headSha.slice(0, 10)} now.`,
    unchanged: `${branch} is at ${headSha.slice(0, 10)} already.`,
  }[outcome];
  const said = asked.title !== null || asked.body !== null || asked.draft;
  const unread = said && !made ? ' Title, text and draft state of one that is there are changed at its host.' : '';
  const more = outcome === 'unchanged' ? 0 : await unpublished(parts, settled);
  const also =
    more === 0
      ? ''
      : ` It also has ${more} ${more === 1 ? 'commit' : 'commits'} that the work began at and the host did not have.`;
  return `${done}${unread}${also}`;
};

/** Commits before the work that the host had in no branch. */
const unpublished = async ({ git, mirrorOf }: OpenParts, { subject, baseSha, branches, branch }: Settled): Promise<number> => {
  const gitDir = mirrorOf(subject.project.id);
  const others = [...branches].filter(([name]) => name !== branch).map(([, sha]) => sha);
  const known = await knownCommits(git, gitDir, others.slice(0, 20_000));
  const input = [baseSha, ...known.map((sha) => `^${sha}`)].map((line) => `${line}\n`).join('');
  return Number(await git.text({ gitDir, args: ['rev-list', '--count', '--stdin'], input }));
};
