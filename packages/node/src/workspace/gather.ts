import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { makeTemporary } from '../files/own.ts';
import { lookAt, type BytePath } from '../files/tree-walk.ts';
import { readAgentGit, type AgentGit, type Tip } from '../git/agent-git.ts';
import { gitDirConfig } from '../git/git-dir.ts';
import { pointersByContent, readLfs } from '../git/lfs/record.ts';
import { isAncestor } from '../git/publish.ts';
import { snapshotTree, type CheckoutView } from '../git/snapshot.ts';
import { missingCommits, takeObjects } from '../git/take-objects.ts';
import { copiedPaths, hasPlainParents } from './copied.ts';
import { describeLfs } from './lfs-changes.ts';
import { moduleView, readModules, type FilledModule } from './submodules.ts';
import type { Gathered, Inspected, WorkspaceContext } from './model.ts';

const asBytes = (path: string): BytePath => Buffer.from(path).toString('latin1');

/**
 * Reads a checkout whose programs have ended. Commits come by data from the agent's `.git`, files from the tree; neither
 * can make the node run anything. What a broken `.git` no longer gives is noted; the files are taken in any case.
 */
export const inspect = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { baseSha, modules: inside = [] }: { baseSha: string; modules?: readonly string[] },
): Promise<Inspected> => {
  if (lookAt(view.tree)?.isDirectory() !== true) {
    throw new OrreryError('path_refused', `${view.tree} is no longer a folder.`, {
      rule: 'A checkout is read only where it was made.',
      fix: 'Run the task again: orrery task retry <id>',
    });
  }
  const agent = await readAgentGit(view.tree, view.agentDir);
  const modules = await readModules(view);
  const without = (await copiedPaths(view)).map(asBytes);
  const replaced = pointersByContent(await readLfs(view));
  const { available, problems } = await takeCommits(context, view, { agent, baseSha, without, replaced });
  const headSha = available.get(agent.headSha ?? '') ?? baseSha;
  const tips = agent.tips.flatMap(({ ref, sha }) => {
    const taken = available.get(sha);
    return taken === undefined || taken === headSha || taken === baseSha ? [] : [{ ref, sha: taken }];
  });
  const [snapshot, extra] = await Promise.all([
    snapshotTree(view, {
      base: baseSha,
      head: headSha,
      without,
      modules: [...modules.map(({ path }) => path), ...inside].map(asBytes),
    }),
    outside(context, view.mirror, { headSha, tips }),
  ]);
  const inModules = await inspectModules(context, view, modules);
  const tree = snapshot.tree ?? `${headSha}^{tree}`;
  const ofLfs = replaced.size === 0 ? [] : await describeLfs(view, { base: baseSha, tree });
  return {
    baseSha,
    headSha,
    tree,
    uncommitted: snapshot.tree !== null,
    extra: [...extra, ...inModules.tips],
    tooMuch: snapshot.tooMuch || inModules.tooMuch,
    notes: [...describeAgent(context, agent, view), ...problems, ...snapshot.notes, ...ofLfs, ...inModules.notes],
  };
};

/**
 * What was done in submodules: their own commits, which a result of the checkout cannot hold. They are kept beside it as other
 * branches are.
 */
const inspectModules = async (context: WorkspaceContext, main: CheckoutView, modules: readonly FilledModule[]) => {
  const tips: Tip[] = [];
  const notes: string[] = [];
  let tooMuch = false;
  for (const module of modules) {
    const view = moduleView(main, module);
    if (!hasPlainParents(main.tree, `${module.path}/x`) || lookAt(view.agentDir ?? '')?.isDirectory() !== true) {
      notes.push(`the submodule ${module.path} is gone; nothing of it was taken`);
      continue;
    }
    const below = modules.flatMap(({ path }) => (path.startsWith(`${module.path}/`) ? [path.slice(module.path.length + 1)] : []));
    const gathered = await seal(context, view, await inspect(context, view, { baseSha: module.sha, modules: below }));
    const ref = `the submodule ${module.path}`;
    if (gathered.finalSha !== module.sha) tips.push({ ref, sha: gathered.finalSha });
    tips.push(...gathered.extra.map(({ sha }) => ({ ref, sha })));
    tooMuch ||= gathered.tooMuch;
    notes.push(...gathered.notes.map((note) => `${ref}: ${note}`));
    if (gathered.finalSha !== module.sha)
      notes.push(`${ref} was changed: a result names a commit of it at most, so what was done there is kept beside the result`);
  }
  return { tips, notes, tooMuch };
};

/** Makes the commit for files that were not committed; HEAD itself when there are none. */
export const seal = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { message = 'orrery: uncommitted work', ...inspected }: Inspected & { readonly message?: string },
): Promise<Gathered> => {
  const { headSha, tree, uncommitted } = inspected;
  if (!uncommitted) return { ...inspected, finalSha: headSha };
  const args = ['commit-tree', tree, '-p', headSha, '-F', '-'];
  return {
    ...inspected,
    finalSha: await context.git.text({ gitDir: view.mirror, readOnly: false, identity: context.identity, args, input: message }),
  };
};

/** Reads a checkout and makes commits of all that is in it. */
export const gather = async (context: WorkspaceContext, view: CheckoutView, base: { baseSha: string }): Promise<Gathered> =>
  seal(context, view, await inspect(context, view, base));

/** Commits of the agent that the mirror has now, by what the agent calls them; another name: made anew without what was copied in. */
type Taken = { readonly available: ReadonlyMap<string, string>; readonly problems: readonly string[] };

/** What commits of an agent's may not bring along. */
type Unwanted = { readonly without: readonly BytePath[]; readonly replaced: ReadonlyMap<string, string> };

const takeCommits = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { agent, baseSha, ...unwanted }: Unwanted & { agent: AgentGit; baseSha: string },
): Promise<Taken> => {
  const named = [...new Set([...(agent.headSha === null ? [] : [agent.headSha]), ...agent.tips.map(({ sha }) => sha)])].filter(
    (sha) => sha !== baseSha,
  );
  const missing = new Set(await missingCommits(context.git, view.mirror, named));
  const available = new Map([baseSha, ...named.filter((sha) => !missing.has(sha))].map((sha) => [sha, sha]));
  if (missing.size === 0) return { available, problems: [] };
  if (!agent.objectsUsable)
    return { available, problems: ['its commits cannot be read: the folder of its objects is gone or a link'] };
  let made = 0;
  const take = async (tips: readonly string[]): Promise<void> => {
    const anew = await takeTips(context, view, { tips, baseSha, ...unwanted });
    for (const sha of tips) available.set(sha, anew.get(sha) ?? sha);
    made = Math.max(made, anew.size);
  };
  const problems: string[] = [];
  try {
    await take([...missing]);
  } catch (thrown) {
    problems.push(
      `its commits could not be taken: ${thrown instanceof OrreryError ? thrown.message : 'its objects could not be read'}`,
    );
    // One broken branch must not cost the others.
    for (const sha of missing.size > 1 ? missing : []) await take([sha]).catch(() => undefined);
  }
  if (made > 0) {
    const held = unwanted.replaced.size === 0 ? 'files that were copied in (copy)' : 'files that were copied in (copy, lfs)';
    problems.push(`${made} of its commits are made anew: they held ${held}, which never come back`);
  }
  return { available, problems };
};

const takeTips = async (
  context: WorkspaceContext,
  view: CheckoutView,
  { tips, baseSha, ...unwanted }: Unwanted & { tips: readonly string[]; baseSha: string },
): Promise<ReadonlyMap<string, string>> => {
  const temporary = await makeTemporary(join(view.tree, '..'), 'quarantine-');
  try {
    return await takeObjects({
      git: context.git,
      objects: join(view.agentDir ?? join(view.tree, '.git'), 'objects'),
      mirror: view.mirror,
      quarantine: join(temporary.path, 'q.git'),
      tips,
      base: baseSha,
      ...unwanted,
    });
  } finally {
    await context.remover.remove(temporary);
  }
};

const outside = async (
  context: WorkspaceContext,
  mirror: string,
  { headSha, tips }: { headSha: string; tips: readonly Tip[] },
): Promise<Tip[]> => {
  const once = [...new Map(tips.map((tip) => [tip.sha, tip])).values()];
  const held = await Promise.all(
    once.map(({ sha }) => isAncestor(context.git, { gitDir: mirror }, { older: sha, newer: headSha })),
  );
  return once.filter((_, index) => held[index] === false);
};

const configsGiven = [false, true].flatMap((modules) => [false, true].map((lfs) => ({ modules, lfs })));

const describeAgent = (context: WorkspaceContext, agent: AgentGit, view: CheckoutView): string[] => [
  ...agent.problems,
  ...agent.inProgress.map((what) => `${what} was left unfinished`),
  ...(agent.branch === null && agent.headSha !== null && view.agentDir === undefined ? ['HEAD was left detached'] : []),
  ...(agent.config !== null &&
  view.agentDir === undefined &&
  configsGiven.every((given) => agent.config !== gitDirConfig({ kind: 'agent', user: context.identity, ...given }))
    ? ['the configuration in its .git was changed; it is not used']
    : []),
];
