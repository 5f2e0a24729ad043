/** A pull request of a task or an environment of its own, per branch. */
export type PullRequestTable = {
  id: string;
  /** `task` or `environment`. */
  subject_kind: string;
  subject_id: string;
  project_id: string;
  /** Name of the code host in the configuration, and `owner/name` there. */
  host: string;
  repository: string;
  branch: string;
  base: string | null;
  title: string;
  draft: number;
  state: string;
  number: number | null;
  url: string | null;
  /** The commit that is being pushed, written before it is; null: what was pushed is known. */
  pushing_sha: string | null;
  /** The commit that the branch was seen to name after a push of ours. */
  pushed_sha: string | null;
  /** The request that was answered last, or is being. */
  request_id: string | null;
  intent_hash: string | null;
  answer: string | null;
  created_at: number;
  changed_at: number;
  checked_at: number | null;
};
