// Pull requests, on the slices that are really there: what a task or an environment is to one.

import { join } from 'node:path';
import { OrreryError, type LeftOut, type TaskResult } from '@orrery/protocol';
import { createCodeHosts, type CodeHosts } from '../codehost/hosts.ts';
import type { Environments } from '../environment/index.ts';
import { dropPacks } from '../git/pack.ts';
import { remotesOf } from '../git/remotes.ts';
import { errorFields } from '../kernel/log.ts';
import {
  bodyOfEnvironment,
  bodyOfTask,
  createPullRequests,
  pullRequestHandlers,
  titleOf,
  type Subject,
} from '../pull-request/index.ts';
import { branchOf, intentOf, resultOf, type Tasks } from '../task/index.ts';
import { environmentHead } from './environment-head.ts';
import { clock, ids, type Parts } from './parts.ts';

/** Handlers of pull requests. `stopping`: the node ends, and waits for no host. */
export const openPullRequests = (
  parts: Parts,
  given: { readonly tasks: Pick<Tasks, 'find'>; readonly environments: Environments; readonly stopping: AbortSignal },
) => {
  const { store, git, workspace } = parts;
  const hosts = openHosts(parts, given.stopping);
  const step = async (): Promise<void> => undefined;
  const pulls = createPullRequests({ store, clock, ids, git, hosts, mirrorOf: workspace.mirrorOf, step });
  return pullRequestHandlers(pulls, {
    task: async (reference) => taskSubject(parts, given.tasks, reference),
    environment: async (reference) => environmentSubject(parts, given.environments, reference),
  });
};

const openHosts = ({ config, paths, secrets, git, log }: Parts, signal: AbortSignal): CodeHosts => {
  const folder = join(paths.data, 'packs');
  // What a node that ended had not taken away; it is named by nothing.
  dropPacks(folder).catch((thrown: unknown) => log.warn('packs.sweep.failed', errorFields(thrown)));
  return createCodeHosts({
    declared: () => config.current().codehosts,
    configFile: config.file,
    readSecret: secrets.read,
    packing: { git, folder, name: () => ids('pullRequest') },
    nowMs: clock.nowMs,
    signal,
  });
};

const remotesOfProject = async ({ projects, git }: Parts, projectId: string): Promise<readonly string[]> => {
  const { kind, source } = await projects.show(projectId);
  return kind === 'url' ? [source] : remotesOf(git, source);
};

const known = (...names: readonly (string | null)[]): string[] => names.filter((name) => name !== null);

const taskSubject = async (parts: Parts, tasks: Pick<Tasks, 'find'>, reference: string): Promise<Subject> => {
  const task = await tasks.find(reference);
  const projectId = task.project_id;
  if (projectId === null)
    throw new OrreryError('unsupported', `Task ${task.id} worked in a scratch folder.`, {
      rule: 'Only a task of a project has a change to open a pull request for.',
      fix: `orrery task show ${task.id}`,
    });
  const { name, defaultBranch } = await parts.projects.show(projectId);
  const intent = intentOf(task);
  const result = task.result === null ? null : (JSON.parse(task.result) as TaskResult);
  return {
    kind: 'task',
    id: task.id,
    project: { id: projectId, name },
    command: `task pr ${task.id}`,
    branch: branchOf(task),
    bases: known(intent.base ?? null, defaultBranch),
    title: titleOf(intent.prompt, `The result of ${task.id}`),
    body: bodyOfTask({ id: task.id, verdict: task.verdict, result }),
    remotes: () => remotesOfProject(parts, projectId),
    head: async ({ without }) => {
      const found = resultOf(await tasks.find(task.id));
      return { baseSha: found.baseSha, headSha: await parts.results.pick(found, without) };
    },
  };
};

const environmentSubject = async (parts: Parts, environments: Environments, reference: string): Promise<Subject> => {
  const row = await environments.find(reference);
  const { name, defaultBranch } = await parts.projects.show(row.project_id);
  return {
    kind: 'environment',
    id: row.id,
    project: { id: row.project_id, name },
    command: `env pr ${row.name}`,
    branch: row.branch,
    bases: known(row.base, defaultBranch),
    title: `Changes of ${row.name}`,
    body: bodyOfEnvironment(row.name),
    remotes: () => remotesOfProject(parts, row.project_id),
    head: (asked) => pushedHead(parts, environments, { ...asked, id: row.id }),
  };
};

type HeadAsked = { readonly id: string; readonly title: string; readonly without: LeftOut; readonly before: string | null };

const pushedHead = (parts: Parts, environments: Environments, { without, ...asked }: HeadAsked) => {
  if (without.length > 0)
    throw new OrreryError('unsupported', 'Of an environment nothing is left out.', {
      rule: 'Parts are left out of the result of a task; what an environment holds is pushed as it is.',
      fix: 'Take them back in the session first.',
    });
  return environmentHead(parts, environments, asked);
};
