import type { PullRequest, TaskIntent } from '@orrery/protocol';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Store } from '../store/store.ts';

/** What a project is to a task. */
export type ProjectRef = { readonly id: string; readonly name: string; readonly path: string };

/** What an environment of its own is to a task. */
export type TaskEnvironment = {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
  readonly backend: string;
  /** The image that it was asked for with. */
  readonly image_asked: string | null;
};

/** What the task slice needs of its neighbours. */
export type TaskParts = {
  readonly store: Store;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  /** The project of an id, name or path; `not_found` when the node does not know it. */
  resolveProject(reference: string): Promise<ProjectRef>;
  /** The environment of its own of an id or name; null when there is none. */
  resolveEnvironment(reference: string): Promise<TaskEnvironment | null>;
  projectsById(ids: readonly string[]): Promise<ReadonlyMap<string, ProjectRef>>;
  /**
   * What the agent that an intent names makes of it, and its definition to be kept; null: it names none. Refuses what its file asks
   * and a task cannot keep.
   */
  withAgent(
    intent: TaskIntent,
    at: { readonly projectId: string | null; readonly environment: TaskEnvironment | null },
  ): Promise<{ readonly intent: TaskIntent; readonly kept: string | null }>;
  /** Checks names and bounds against what the operator allows; answers what the task will run with. */
  admit(
    intent: TaskIntent,
    projectId: string | null,
  ): Promise<{ readonly harness: string; readonly backend: string; readonly model: string | null }>;
  /** The newest pull request of each of these tasks. */
  pullRequestsOf(ids: readonly string[]): Promise<ReadonlyMap<string, PullRequest>>;
  /** Whether conversations of a harness outlive their environment. */
  canCarryOn(harness: string): boolean;
  /** Whether the conversation of a task that ended is kept. */
  isConversationKept(taskId: string): boolean;
  /** The usage limit that keeps a task from beginning, in words; null: there is none. */
  accountLimit(task: { readonly harness: string; readonly model: string | null }): Promise<string | null>;
  /** Throws `disk_full` when there is no room for new work, `node_draining` when none is taken. */
  checkRoom(): void;
  /** Tells the loop that there may be something to do. */
  wake(): void;
  /** Tells the loop that a running task shall end. */
  cancelRunning(taskId: string): void;
};
