// The tools of an attached session, on the node that is really there. What fails is an answer with the three lines.
import type { AttachedTool, Task, TaskCreate, ToolInput } from '@orrery/protocol';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import { allProjects, projectOf, repositoryRoot } from '../../names.ts';
import type { Link } from '../../patient-link.ts';
import { mcpLimits } from './limits.ts';
import { isOver, type Membership } from './membership.ts';
import { answerOf, hasEnded, identityOf, lineOf, partOf } from './task-answers.ts';

export type ToolParts = {
  readonly link: Pick<Link, 'call' | 'connection'>;
  readonly membership: Membership;
  /** Where the program was started. */
  readonly folder: string;
  readonly newRequestId: () => string;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
};

/** Each tool answers a value that can be written as JSON. `signal`: the program does not wait for it any more. */
export type Tools = { readonly [Name in AttachedTool]: (input: ToolInput<Name>, signal: AbortSignal) => Promise<unknown> };

/** Tasks that are looked through for those of this session. */
const LOOKED_THROUGH = 200;

export const createTools = (parts: ToolParts): Tools => {
  const { link, membership } = parts;
  const show = (id: string): Promise<Task> => link.call('taskShow', { params: { id } });
  return {
    whoami: async () => {
      const session = await membership.session();
      const { node, url } = await found(parts);
      return identityOf(session, { name: node.name, url }, await ownProject(parts));
    },
    task_create: (input) => create(parts, input),
    task_list: async ({ all, state, limit }) => {
      const { id } = await membership.session();
      const { items } = await link.call('taskList', { query: { state, limit: all ? limit : LOOKED_THROUGH } });
      const wanted = all ? items : items.filter((task) => isOf(task, id)).slice(0, limit);
      return { tasks: wanted.map(lineOf) };
    },
    task_show: async ({ task }) => answerOf(await show(task)),
    task_wait: async ({ task, seconds }, signal) => {
      const until = parts.now() + seconds * 1000;
      for (;;) {
        const seen = await show(task);
        if (hasEnded(seen) || parts.now() >= until || signal.aborted) return answerOf(seen);
        await parts.sleep(Math.min(mcpLimits.lookMs, Math.max(1, until - parts.now())));
      }
    },
    task_diff: async ({ task, offset }) => partOf(await link.call('taskDiff', { params: { id: task } }), offset),
    task_cancel: async ({ task }) => {
      const asked = await show(task);
      const { id, name } = await membership.session();
      if (!isOf(asked, id)) throw notIts(asked, name);
      return answerOf(await link.call('taskCancel', { params: { id: asked.id }, body: {} }));
    },
  };
};

/** The node, found again when it was started anew. */
const found = async ({ link }: ToolParts): Promise<Connection> => {
  await link.call('nodeShow', {});
  return link.connection();
};

const isOf = ({ origin }: Task, session: string): boolean => origin.kind === 'session' && origin.by === session;

const notIts = ({ id }: Task, name: string): OrreryError =>
  new OrreryError('forbidden', `The session ${name} did not ask for the task ${id}.`, {
    rule: 'A session cancels what it asked for itself.',
    fix: `A person does it: orrery task cancel ${id}`,
  });

/** The project that the node has of the repository of this folder. */
const ownProject = async (parts: ToolParts): Promise<string | null> => {
  const root = repositoryRoot(parts.folder);
  if (root === null) return null;
  return (await allProjects(await found(parts))).find(({ source }) => source === root)?.name ?? null;
};

/** The id of a project that was named, else of this folder's repository; null where none was wanted. */
const projectFor = async (parts: ToolParts, given: string | null | undefined): Promise<string | null> => {
  const { folder } = parts;
  if (given === null) return null;
  const root = repositoryRoot(folder);
  if (given === undefined && root === null)
    throw new OrreryError('invalid_input', 'The project of the task is missing.', {
      rule: 'This folder is in no repository, so that a task says its project, or null for an empty folder.',
      fix: 'orrery project list',
    });
  try {
    return (await projectOf(await found(parts), given ?? root ?? '', folder)).id;
  } catch (thrown) {
    if (given !== undefined || toOrreryError(thrown).code !== 'not_found') throw thrown;
    throw new OrreryError('not_found', 'The repository of this folder is no project of the node.', {
      rule: 'A person adds a project; a program that is attached adds none.',
      fix: 'orrery project add .',
    });
  }
};

const create = async (parts: ToolParts, { project, requestId: given, ...rest }: ToolInput<'task_create'>): Promise<unknown> => {
  const { link, membership } = parts;
  // An environment has its project, and so has a task that goes on.
  const follows = rest.environment !== undefined || rest.continues !== undefined;
  const where = follows && project === undefined ? null : await projectFor(parts, project);
  const requestId = given ?? parts.newRequestId();
  const ask = (session: string): Promise<Task> => {
    const body: TaskCreate = { ...rest, project: where, requestId, origin: { kind: 'session', by: session } };
    return link.call('taskAdd', { body, idempotencyKey: requestId });
  };
  const { id } = await membership.session();
  try {
    return answerOf(await ask(id));
  } catch (thrown) {
    const error = toOrreryError(thrown);
    if (!isOver(error) || error.details?.['ended'] !== id) throw thrown;
    return answerOf(await ask((await membership.again(id)).id));
  }
};
