// What tools answer of tasks: what an agent decides by, and no more.
import { TOOL_DIFF_CHARS, type AttachedView, type Task, type TaskDiff } from '@orrery/protocol';

const PROMPT_CHARS = 200;

/** States in which something of a task runs or waits. */
const going: readonly Task['state'][] = ['queued', 'waiting', 'running'];

export const hasEnded = ({ state }: Pick<Task, 'state'>): boolean => !going.includes(state);

/** What one does next. */
const nextOf = (task: Task): string => {
  if (!hasEnded(task)) return `task_wait ${task.id}`;
  if (task.result !== null && task.result.filesChanged > 0)
    return `task_diff ${task.id}; a person applies it: orrery task apply ${task.id}`;
  return task.verdict === 'accepted' ? 'nothing' : 'task_create, with what was missing';
};

/** A task in one line of a list. */
export const lineOf = ({ id, state, verdict, project, prompt, createdAt, origin }: Task) => ({
  ...{ id, state, verdict, project: project?.name ?? null },
  prompt: prompt.length > PROMPT_CHARS ? `${prompt.slice(0, PROMPT_CHARS)}…` : prompt,
  ...{ askedBy: `${origin.kind} ${origin.by}`, createdAt },
});

/** A task with what came of it. */
export const answerOf = (task: Task) => {
  const { waitingFor, cause, reason, harness, model, agent, startedAt, endedAt, result } = task;
  return {
    ...lineOf(task),
    ...{ waitingFor, cause, reason, harness, model, agent: agent?.name ?? null, startedAt, endedAt },
    result:
      result === null
        ? null
        : {
            ...{ summary: result.summary, output: result.output, goal: result.goal, validation: result.validation },
            ...{ filesChanged: result.filesChanged, insertions: result.insertions, deletions: result.deletions },
          },
    next: nextOf(task),
  };
};

/** A part of a patch, with where the next part begins. */
export const partOf = ({ files, patch, truncated }: TaskDiff, offset: number) => {
  const part = patch.slice(offset, offset + TOOL_DIFF_CHARS);
  const end = offset + part.length;
  return {
    files: offset === 0 ? files.map(({ path, status, insertions, deletions }) => ({ path, status, insertions, deletions })) : [],
    patch: part,
    nextOffset: end < patch.length ? end : null,
    /** The patch is larger than the node keeps in one answer. */
    cut: truncated,
  };
};

/** Who asks, and where. */
export const identityOf = (
  session: AttachedView,
  node: { readonly name: string; readonly url: string },
  project: string | null,
) => ({
  ...{ session: session.id, name: session.name, harness: session.harness, agent: session.agent?.name ?? null },
  ...{ program: session.program, by: session.by, since: session.createdAt, node, folder: session.folder, project },
});
