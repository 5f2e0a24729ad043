// Glossary. A code host is a service where repositories live and pull requests are opened (GitHub, or one like it). A
// repository there is `owner/name`. A pull request asks that a branch be taken into another, its base. Whoever adds a kind
// of code host keeps the contract suite: test/code-host-suite.ts.

/** A pull request as its host has it. */
export type Pull = {
  readonly number: number;
  /** Where people look at it. */
  readonly url: string;
  readonly state: 'open' | 'merged' | 'closed';
  readonly draft: boolean;
  readonly title: string;
  readonly base: string;
  readonly branch: string;
  readonly headSha: string;
};

/** How an open one stands: what was checked on its commit, and whether it could be merged. */
export type Standing = {
  /** Null: the token may not read checks. */
  readonly checks: readonly HostCheck[] | null;
  /** How many there are, also beyond those that were read. */
  readonly total: number;
  readonly merging: 'clean' | 'conflicts' | 'blocked' | 'behind' | 'draft' | 'unknown';
  readonly methods: readonly MergeMethod[];
};

export type HostCheck = {
  readonly name: string;
  readonly state: 'pending' | 'passed' | 'failed' | 'skipped';
  readonly url: string | null;
};

export type MergeMethod = 'merge' | 'squash' | 'rebase';

/** What is to be opened. */
export type PullWanted = {
  readonly title: string;
  readonly body: string;
  readonly branch: string;
  readonly base: string;
  readonly draft: boolean;
};

/** A commit of a mirror that a branch is to name. */
export type PushWanted = {
  readonly mirror: string;
  readonly branch: string;
  readonly sha: string;
  /** What the branch names there; null: it is to be made. The host compares and sets in one step. */
  readonly before: string | null;
  /** Commits that the host has: what they reach is not sent. */
  readonly has: Iterable<string>;
};

/**
 * One code host, and the operator's account there. Every method rejects with `codehost_unreachable` (nobody knows whether
 * it was done), `codehost_refused` (it was not), `rate_limited`, or `config_invalid` when there is no token; none of their
 * texts holds the token. Each is bounded in time and in what is read.
 */
export type CodeHost = {
  /** Its name in the configuration. */
  readonly name: string;
  readonly kind: string;
  /** `owner/name` of a remote's address (https, ssh, scp-like); null: the remote is not of this host. */
  repositoryOf(remote: string): string | null;
  /** Where a person sees a branch there. */
  branchUrl(repository: string, branch: string): string;
  /** Whether there is a token; rejects with `config_invalid` and the way to set one. It asks nobody. */
  checkToken(): Promise<void>;
  /** Branches with their commits, as they are now. */
  branches(repository: string): Promise<ReadonlyMap<string, string>>;
  /** Sets a branch. Rejects with `codehost_refused` when it names something else than `before`; then nothing was set. */
  push(repository: string, wanted: PushWanted): Promise<void>;
  defaultBranch(repository: string): Promise<string>;
  /** Opens one; null: the host has one of this branch and base already, and made no second. */
  create(repository: string, wanted: PullWanted): Promise<Pull | null>;
  /** Pull requests of a branch of that repository, open, merged and closed, newest first; at most 30. */
  find(repository: string, branch: string): Promise<readonly Pull[]>;
  view(repository: string, number: number): Promise<Pull>;
  /** How one stands whose commit is this; at most 200 checks are read. */
  standing(repository: string, pull: Pick<Pull, 'number' | 'headSha'>): Promise<Standing>;
  /** Merges it. Rejects with `codehost_refused` when its commit is another one or a rule of the host is against it; then nothing was merged. */
  merge(repository: string, wanted: Pick<Pull, 'number' | 'headSha'> & { readonly method: MergeMethod }): Promise<void>;
};
