// Submodules of a checkout, filled by the node. Their objects are brought into the project's mirror, each has a Git directory
// of its own inside of the checkout's, and the node has a view of each, as it has of the checkout.
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { own } from '../files/own.ts';
import { absoluteBytes, isErrno, lookAt } from '../files/tree-walk.ts';
import { gitDirConfig, makeGitDir } from '../git/git-dir.ts';
import { writeRef } from '../git/mirror.ts';
import type { GitCall } from '../git/run.ts';
import { viewCall, type CheckoutView } from '../git/snapshot.ts';
import { submoduleSource, type Above } from '../git/submodule-source.ts';
import { readSubmodules, submoduleRefused, type Submodule } from '../git/submodules.ts';
import { missingCommits } from '../git/take-objects.ts';
import { writeDurably } from '../kernel/durable-file.ts';
import { GIT_FETCH_MS, GIT_WRITE_MS, SUBMODULE_DEPTH, SUBMODULES } from '../kernel/limits.ts';
import { claimedRow } from './claimed.ts';
import { hasPlainParents, putCopy } from './copied.ts';
import { mirrorPath, slotPaths, type SubmodulePolicy, type WorkspaceContext } from './model.ts';
import { projectOf } from './store.ts';

const moduleSchema = z.object({ id: z.string(), path: z.string(), sha: z.string() });

/** One that was filled: its path from the root of the checkout, and what its Git directories are called. */
export type FilledModule = z.output<typeof moduleSchema>;

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** The submodules that were filled in a checkout, those above before those in them. */
export const readModules = async ({ modules }: { readonly modules: string }): Promise<readonly FilledModule[]> => {
  const text = await readFile(join(modules, 'modules.json'), 'utf8').catch((thrown: unknown) => {
    if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return '[]';
    throw thrown;
  });
  return z.array(moduleSchema).parse(JSON.parse(text));
};

/** The node's view of a filled submodule. */
export const moduleView = (view: CheckoutView, { id, path }: FilledModule): CheckoutView => ({
  ...view,
  tree: join(view.tree, path),
  agentDir: join(view.tree, '.git/modules', id),
  nodeDir: join(view.modules, `${id}.git`),
  index: join(view.modules, `${id}.index`),
  copied: join(view.modules, `${id}.copied.json`),
  caches: join(view.modules, `${id}.caches.json`),
  modules: join(view.modules, `${id}.modules`),
  lfs: join(view.modules, `${id}.lfs.json`),
});

/**
 * Fills the submodules of a checkout in which nothing ran yet. Answers their commits. Rejects with `repository_unusable` when
 * one of them cannot be had: a checkout is filled or it is not. Repeatable.
 */
export const fillModules = (context: WorkspaceContext, id: string, policy: SubmodulePolicy): Promise<readonly string[]> =>
  context.mutex.run(`checkout:${id}`, async () => {
    if (policy === 'none') return [];
    const row = await claimedRow(context, id);
    const view: CheckoutView = {
      git: context.git,
      mirror: mirrorPath(context.dataDirectory, row.project_id),
      ...slotPaths(row.path),
    };
    await dropModules(context, view);
    const project = await projectOf(context.store.read, row.project_id);
    const folder = project === undefined || project.kind === 'url' ? null : project.source;
    const above = { folder, remote: (await remoteOf(context, folder)) ?? project?.source ?? '' };
    const found = await fetchAll(context, view.mirror, {
      commit: row.base_sha,
      above,
      prefix: '',
      depth: policy === 'recursive' ? SUBMODULE_DEPTH : 1,
    });
    if (found.length === 0) return [];
    await mkdir(view.modules, { mode: 0o700 });
    await mkdir(join(view.tree, '.git/modules'), { mode: 0o700 });
    // Whatever comes next, the node knows which folders are theirs.
    await writeDurably(join(view.modules, 'modules.json'), JSON.stringify(found));
    for (const module of found) await fillOne(context, view, module);
    const config = gitDirConfig({ kind: 'agent', user: context.identity, modules: true });
    await putCopy(view.tree, { path: '.git/config', content: Buffer.from(config), mode: 0o644 });
    return found.map(({ sha }) => sha);
  });

/** What the user's own clone calls its origin. */
export const remoteOf = async ({ git }: WorkspaceContext, folder: string | null): Promise<string | null> => {
  if (folder === null) return null;
  const { code, stdout } = await git.run({
    profile: 'user',
    cwd: folder,
    args: ['config', '--get', 'remote.origin.url'],
    okCodes: [0, 1],
  });
  return code === 0 ? stdout.toString('utf8').trim() : null;
};

type Fetching = { readonly commit: string; readonly above: Above; readonly prefix: string; readonly depth: number };

const fetchAll = async (context: WorkspaceContext, mirror: string, fetching: Fetching): Promise<FilledModule[]> => {
  const { commit, above, prefix, depth } = fetching;
  const all: FilledModule[] = [];
  for (const module of depth === 0 ? [] : await readSubmodules(context.git, mirror, commit)) {
    const path = `${prefix}${module.path}`;
    const { location, call } = await submoduleSource(context.git, above, module);
    await context.mutex.run(`modules:${mirror}`, () =>
      fetchOne(context, mirror, { module: { ...module, path }, location, call }),
    );
    all.push({ id: shortHash(path), path, sha: module.sha });
    const below = { folder: above.folder === null ? null : join(above.folder, module.path), remote: location };
    all.push(...(await fetchAll(context, mirror, { commit: module.sha, above: below, prefix: `${path}/`, depth: depth - 1 })));
  }
  if (all.length > SUBMODULES)
    throw submoduleRefused(all[0]?.path ?? '', `there are ${all.length}`, `At most ${SUBMODULES} submodules are filled.`);
  return all;
};

/** Brings a submodule's history into the mirror, when its commit is not whole there yet. */
const fetchOne = async (
  { git }: WorkspaceContext,
  mirror: string,
  { module, location, call }: { module: Submodule; location: string; call: Pick<GitCall, 'profile' | 'protocols' | 'settings'> },
): Promise<void> => {
  const { sha, path } = module;
  const group = `refs/orrery/modules/${shortHash(location)}`;
  const fetch = (...specs: string[]) =>
    git.run({
      ...call,
      gitDir: mirror,
      readOnly: false,
      timeoutMs: GIT_FETCH_MS,
      args: [
        'fetch',
        '--quiet',
        '--force',
        '--no-tags',
        '--no-write-fetch-head',
        '--no-auto-maintenance',
        '--no-recurse-submodules',
        '--',
        location,
        ...specs,
      ],
    });
  const missing = async (): Promise<boolean> => (await missingCommits(git, mirror, [sha])).length > 0;
  if (await missing()) {
    try {
      await fetch(`+refs/heads/*:${group}/heads/*`);
      // A commit that no branch has any more is still given by most servers when it is named.
      if (await missing()) await fetch(`+${sha}:${group}/named/${sha}`);
    } catch {
      throw submoduleRefused(
        path,
        `${location} does not give its commit ${sha}`,
        'All submodules are filled, or the checkout is not made.',
      );
    }
  }
  await writeRef(mirror, { ref: `${group}/at/${sha}`, sha });
};

const fillOne = async (context: WorkspaceContext, main: CheckoutView, module: FilledModule): Promise<void> => {
  const view = moduleView(main, module);
  const agentDir = view.agentDir ?? '';
  if (!hasPlainParents(main.tree, module.path) || lookAt(view.tree)?.isDirectory() !== true)
    throw submoduleRefused(
      module.path,
      'its folder is none in the checkout',
      'A submodule is filled where its commit says it is.',
    );
  await makeGitDir({ path: view.nodeDir, kind: 'node', head: 'refs/heads/none', alternates: [join(view.mirror, 'objects')] });
  await view.git.run({
    ...viewCall(view),
    readOnly: false,
    timeoutMs: GIT_WRITE_MS,
    args: ['read-tree', '--reset', '-u', module.sha],
  });
  // By way of the checkout's own objects: they lead to those that are borrowed, wherever these are.
  const alternates = [relative(join(agentDir, 'objects'), join(main.tree, '.git/objects'))];
  const workTree = relative(agentDir, view.tree);
  await makeGitDir({ path: agentDir, kind: 'agent', head: module.sha, alternates, user: context.identity, workTree });
  await copyFile(view.index, join(agentDir, 'index'));
  await writeFile(join(view.tree, '.git'), `gitdir: ${relative(view.tree, agentDir)}\n`);
};

/** Takes the files of submodules out of a checkout whose work is saved: what they ignore stays, as the checkout's own does. */
export const dropModules = async (context: WorkspaceContext, view: CheckoutView): Promise<void> => {
  for (const module of (await readModules(view)).toReversed()) {
    const one = moduleView(view, module);
    if (lookAt(one.index) === null || !hasPlainParents(view.tree, `${module.path}/x`)) continue;
    const { stdout } = await view.git.run({ ...viewCall(one), args: ['ls-files', '-z'] });
    for (const path of ['.git', ...stdout.toString('latin1').split('\0')]) await unlinkFile(one.tree, path);
  }
  if (lookAt(view.modules)?.isDirectory() === true) await context.remover.remove(own(view.modules));
  const agents = join(view.tree, '.git/modules');
  if (hasPlainParents(view.tree, '.git/modules') && lookAt(agents)?.isDirectory() === true)
    await context.remover.remove(own(agents));
};

/** A plain file or link below real folders; nothing else. */
const unlinkFile = async (tree: string, path: string): Promise<void> => {
  if (path === '') return;
  const parents = path.split('/').slice(0, -1);
  if (parents.some((_, index) => lookAt(absoluteBytes(tree, parents.slice(0, index + 1).join('/')))?.isDirectory() !== true))
    return;
  const at = absoluteBytes(tree, path);
  const found = lookAt(at);
  if (found?.isFile() === true || found?.isSymbolicLink() === true) await unlink(at);
};
