import type { Generated } from 'kysely';
import type { PullRequestTable } from './pull-request-table.ts';
import type { AccountLimitTable, QueueEntryTable, QueueStateTable, TaskWaitTable } from './queue-tables.ts';
import type {
  AttachedSessionTable,
  AttachmentTable,
  HarnessCatalogueTable,
  InteractionTable,
  SessionDetailTable,
  SessionCheckpointTable,
  SessionFrameTable,
  SessionLeaseTable,
  SessionRunTable,
  SessionTable,
  SessionTombstoneTable,
  TurnTable,
} from './session-tables.ts';

// One interface per table, as the numbered files in migrations/ make them. Each slice writes only its own. Instants are
// milliseconds since 1970; JSON columns are text.

export type Tables = {
  event: EventTable;
  task: TaskTable;
  attempt: AttemptTable;
  stage: StageTable;
  queue_entry: QueueEntryTable;
  queue_state: QueueStateTable;
  task_wait: TaskWaitTable;
  project: ProjectTable;
  environment: EnvironmentTable;
  named_environment: NamedEnvironmentTable;
  run: RunTable;
  checkout: CheckoutTable;
  salvage: SalvageTable;
  token: TokenTable;
  run_token: RunTokenTable;
  model_call: ModelCallTable;
  audit: AuditTable;
  node_state: NodeStateTable;
  repository_change: RepositoryChangeTable;
  attachment: AttachmentTable;
  harness_catalogue: HarnessCatalogueTable;
  account_limit: AccountLimitTable;
  session: SessionTable;
  turn: TurnTable;
  session_frame: SessionFrameTable;
  session_lease: SessionLeaseTable;
  session_detail: SessionDetailTable;
  session_run: SessionRunTable;
  session_checkpoint: SessionCheckpointTable;
  session_tombstone: SessionTombstoneTable;
  interaction: InteractionTable;
  attached_session: AttachedSessionTable;
  pull_request: PullRequestTable;
};

export type EventTable = {
  seq: Generated<number>;
  at: number;
  task_key: number | null;
  session_key: number | null;
  sequence: number | null;
  turn: number | null;
  kind: string;
  body: string;
  /** Of a session's events: the row it is a revision of, and the sequence at which that row stood first. */
  row: Generated<string | null>;
  row_first: Generated<number | null>;
};
export type TaskTable = {
  key: Generated<number>;
  id: string;
  request_id: string;
  intent_hash: string;
  intent: string;
  /** The definition of its agent, as JSON. */
  agent: Generated<string | null>;
  state: string;
  waiting_for: string | null;
  verdict: string | null;
  cause: string | null;
  reason: string | null;
  project_id: string | null;
  harness: string;
  model: string | null;
  backend: string;
  continues: string | null;
  /** The environment of its own that the task works in; null: one made for each attempt. */
  environment_id: string | null;
  series: string | null;
  cancel_requested: number;
  result: string | null;
  applied_at: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
};
export type AttemptTable = {
  id: string;
  task_id: string;
  number: number;
  environment_id: string | null;
  backend: string;
  conversation: string | null;
  guarantees: string;
  /** Progress of the conductor: which stage, which round, translator state. */
  progress: string;
  verdict: string | null;
  cause: string | null;
  reason: string | null;
  started_at: number;
  ended_at: number | null;
};
export type StageTable = {
  attempt_id: string;
  name: string;
  round: number;
  state: string;
  run_id: string | null;
  exit_code: number | null;
  note: string | null;
  output: string | null;
  started_at: number;
  ended_at: number | null;
};
export type ProjectTable = {
  id: string;
  name: string;
  source: string;
  kind: string;
  mirror: string;
  default_branch: string | null;
  head_sha: string | null;
  notes: string;
  hooks: string;
  removed_at: number | null;
  created_at: number;
};
/** One open place; `spec` is the EnvironmentSpec it was opened with. */
export type EnvironmentTable = {
  id: string;
  task_id: string;
  backend: string;
  spec: string;
  state: string;
  opened_at: number;
  closed_at: number | null;
};
/** An environment that belongs to a project and not to one task. */
export type NamedEnvironmentTable = {
  id: string;
  request_id: string;
  intent: string;
  name: string;
  project_id: string;
  backend: string;
  /** What it is made from, as it was settled; null: what its backend takes. */
  image: string | null;
  /** The image that it was asked for with: it is settled anew with it; null: none was named. */
  image_asked: Generated<string | null>;
  state: string;
  /** What is being done to it; null: nothing. */
  operation: string | null;
  reason: string | null;
  setup: string;
  /** Content key of the set-up that passed here: it is not run again while the key stays. */
  setup_key: string | null;
  base: string | null;
  /** JSON: hosts that it was asked for with, beside those of its project. */
  egress: Generated<string>;
  base_sha: string | null;
  branch: string;
  /** What creating it found out (checkout, settings, hooks); null before. */
  prepared: string | null;
  /** The EnvironmentSpec it is opened with, and its directory as the node made it. */
  spec: string | null;
  ports: string;
  /** 1 while its backend holds it open. */
  open: number;
  /** `running` or `stopped`: what a person wants of it when it is made. */
  wanted: string;
  task_id: string | null;
  forked_from: string | null;
  /** For a deletion that is under way: whether unsaved work is saved (1) or refused. */
  salvage: number;
  disk_bytes: number | null;
  disk_at: number | null;
  created_at: number;
  changed_at: number;
  used_at: number;
  deleted_at: number | null;
};
/** One program run: the journal that makes a restarted node find it again. `id` names the keeper's directory. */
export type RunTable = {
  id: string;
  environment_id: string;
  attempt_id: string;
  stage: string;
  round: number;
  /** What really ran, secrets masked. */
  described: string;
  identity: string | null;
  state: string;
  /** Committed parse position of stdout and stderr. */
  stdout_offset: number;
  stderr_offset: number;
  translator: string;
  /** 1 once the program confirmed that it took its input. */
  accepted: number;
  end: string | null;
  started_at: number;
  ended_at: number | null;
};
/** A directory the node made: device and inode, so that nothing else is ever deleted. */
export type CheckoutTable = {
  id: string;
  project_id: string | null;
  path: string;
  device: number | null;
  inode: number | null;
  kind: string;
  state: string;
  task_id: string | null;
  base_sha: string | null;
  created_at: number;
  used_at: number;
};
export type SalvageTable = {
  id: string;
  project_id: string;
  task_id: string | null;
  ref: string;
  sha: string;
  reason: string;
  files: number;
  created_at: number;
};
export type TokenTable = {
  id: string;
  name: string;
  scope: string;
  hash: string;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
};
/** A broker token of one environment: `kind` is run (models) or egress. */
export type RunTokenTable = {
  id: string;
  environment_id: string;
  task_id: string;
  kind: string;
  hash: string;
  grants: string;
  created_at: number;
  ended_at: number | null;
};
export type ModelCallTable = {
  id: Generated<number>;
  task_id: string;
  environment_id: string;
  provider: string;
  model: string;
  status: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  cost_usd: number | null;
  started_at: number;
  ended_at: number;
};
export type AuditTable = {
  id: Generated<number>;
  at: number;
  actor: string;
  action: string;
  subject: string;
  outcome: string;
  detail: string;
};
export type NodeStateTable = { key: string; value: string };
/** What the node is doing in a repository of the user's; a row is gone when that has come to its end. */
export type RepositoryChangeTable = {
  id: string;
  project_id: string;
  repository: string;
  git_dir: string;
  common_dir: string;
  branch: string;
  /** 1: the checked-out files too. */
  tree: number;
  old_sha: string | null;
  target_sha: string | null;
  phase: string;
  stage_device: number | null;
  stage_inode: number | null;
  created_at: number;
};
