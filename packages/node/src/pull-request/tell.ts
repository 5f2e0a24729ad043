import type { Pull } from '../codehost/codehost.ts';
import type { Tx } from '../store/store.ts';
import type { Subject } from './model.ts';

/** Tells everybody of a pull request: an event of its task, or of the node for an environment. */
export const tellPull = async (tx: Tx, { kind, id }: Pick<Subject, 'kind' | 'id'>, pull: Pull): Promise<void> => {
  const pulled = { number: pull.number, url: pull.url, state: pull.state, headSha: pull.headSha };
  await tx.append([
    kind === 'task'
      ? { taskId: id, turn: null, body: { kind: 'task.pull-request', ...pulled } }
      : { taskId: null, turn: null, body: { kind: 'environment.pull-request', environmentId: id, ...pulled } },
  ]);
};
