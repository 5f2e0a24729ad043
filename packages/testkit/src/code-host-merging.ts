// Checks and merging of the code host for tests, by Git's own merge.

import { commitOf, gitOf, type Answer, type Held, type TestPull } from './code-host-held.ts';

/** The tree that a merge would make; null: there is a conflict. */
const mergedTree = ({ root }: Held, repository: string, { base, head }: TestPull): string | null => {
  try {
    return gitOf(root, repository, 'merge-tree', '--write-tree', base, head).split('\n')[0] ?? null;
  } catch {
    return null;
  }
};

/** What GitHub says of one that is asked for by its number. */
export const mergeability = (held: Held, repository: string, pull: TestPull): object => {
  if (pull.state !== 'open') return { mergeable: null, mergeable_state: 'unknown' };
  const mergeable = mergedTree(held, repository, pull) !== null;
  const state = !mergeable ? 'dirty' : pull.draft ? 'draft' : held.protectedBy.has(repository) ? 'blocked' : 'clean';
  return { mergeable, mergeable_state: state };
};

/** Merges one, as GitHub does: where its commit is still the one that was seen. */
export const mergeOne = (
  held: Held,
  { repository, pull, text }: { readonly repository: string; readonly pull: TestPull; readonly text: string },
): Answer => {
  const { sha } = JSON.parse(text) as { readonly sha?: string };
  const refused = (message: string): Answer => ({ status: 405, body: { message } });
  const rule = held.protectedBy.get(repository);
  if (rule !== undefined) return refused(rule);
  const tree = mergedTree(held, repository, pull);
  if (pull.state !== 'open' || pull.draft || tree === null) return refused('Pull Request is not mergeable');
  if (sha !== commitOf(held.root, repository, pull.head))
    return { status: 409, body: { message: 'Head branch was modified. Review and try the merge again.' } };
  const named = ['-c', 'user.name=host', '-c', 'user.email=host@test'];
  const parents = ['-p', `refs/heads/${pull.base}`, '-p', `refs/heads/${pull.head}`];
  const made = gitOf(held.root, repository, ...named, 'commit-tree', tree, ...parents, '-m', `Merge #${pull.number}`);
  gitOf(held.root, repository, 'update-ref', `refs/heads/${pull.base}`, made);
  [pull.state, pull.mergedAt] = ['closed', '2026-01-01T00:00:00Z'];
  return { status: 200, body: { sha: made, merged: true, message: 'Pull Request successfully merged' } };
};

/** Checks of a commit, by their kind. */
export const checksOf = (held: Held, key: string, kind: string): Answer => {
  const checks = (held.checks.get(key) ?? []).filter((check) => (check.kind === 'run') === (kind === 'check-runs'));
  const page = (name: string): string => `${held.origin()}/checks/${encodeURIComponent(name)}`;
  if (kind === 'status')
    return {
      status: 200,
      body: {
        ...{ state: 'pending', total_count: checks.length },
        statuses: checks.map(({ name, conclusion }) => ({
          context: name,
          state: conclusion ?? 'pending',
          target_url: page(name),
        })),
      },
    };
  const runs = checks.map(({ name, conclusion }) => ({
    ...{ name, conclusion, status: conclusion === null ? 'in_progress' : 'completed', html_url: page(name) },
  }));
  return { status: 200, body: { total_count: runs.length, check_runs: runs } };
};
