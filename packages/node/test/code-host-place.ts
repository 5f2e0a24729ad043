import { commitAll, gitIn, plainRepository, startCodeHost, writeFiles, type TestCodeHost } from '@orrery/testkit';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createCodeHosts, type CodeHosts } from '../src/codehost/hosts.ts';
import { directSpawner, type Command, type Spawner } from '../src/kernel/spawner.ts';
import { createGit, type Git } from '../src/git/run.ts';
import { openGitNode, type GitNode } from './git-node.ts';

/** The token of these tests. */
export const TOKEN = 'ghp_5ecret0fTheOperator00000000000000000';

/** A node with a project whose remote is a code host. */
export type HostPlace = {
  readonly node: GitNode;
  readonly server: TestCodeHost;
  readonly hosts: CodeHosts;
  /** Git of the node, and what it started: arguments and environments. */
  readonly git: Git;
  readonly started: readonly Command[];
  readonly root: string;
  readonly projectId: string;
  readonly baseSha: string;
  readonly packs: string;
  /** From now on this is the token of the operator; null: there is none. */
  setToken(token: string | null): void;
  close(): Promise<void>;
};

export const openHostPlace = async (): Promise<HostPlace> => {
  const node = await openGitNode();
  const { root } = plainRepository(node.folder);
  const hostRoot = join(node.folder, 'host');
  mkdirSync(hostRoot);
  const server = await startCodeHost({ root: hostRoot, token: TOKEN });
  gitIn(root, 'remote', 'add', 'origin', server.add('acme/site', root));
  const { id: projectId } = await node.projects.add({ source: root });
  let token: string | null = TOKEN;
  const started: Command[] = [];
  const spawner: Spawner = {
    start: (command) => {
      started.push(command);
      return directSpawner.start(command);
    },
  };
  const git = createGit({ environment: { ...process.env, HOME: node.home }, spawner });
  const packs = join(node.dataDirectory, 'packs');
  const hosts = createCodeHosts({
    declared: () => ({ local: { kind: 'github', url: server.api, secret: 'secret:local' } }),
    configFile: '/etc/orrery/config.yaml',
    readSecret: async (name) => (name === 'local' ? token : null),
    packing: { git, folder: packs, name: () => node.ids('pullRequest') },
    nowMs: node.clock.nowMs,
  });
  return {
    ...{ node, server, hosts, git, started, root, projectId, packs },
    baseSha: gitIn(root, 'rev-parse', 'HEAD'),
    setToken: (next) => {
      token = next;
    },
    close: async () => {
      await server.stop();
      await node.close();
    },
  };
};

/** The work of a task, or of a later attempt of it, as its result in the mirror. */
export const workOf = async (
  { node, projectId, baseSha }: Pick<HostPlace, 'node' | 'projectId' | 'baseSha'>,
  { taskId, attempt, files }: { taskId: string; attempt: number; files: Readonly<Record<string, string>> },
): Promise<string> => {
  const known = await node.workspace.checkoutOf(taskId);
  const checkout = known ?? (await node.workspace.claim({ projectId, taskId, baseSha }));
  writeFiles(checkout.path, files);
  commitAll(checkout.path, `work ${attempt}`);
  return (await node.workspace.collect(checkout.id, { attempt })).headSha;
};

/** The row of a task: events are told of those that are there. */
export const addTask = ({ node, projectId }: Pick<HostPlace, 'node' | 'projectId'>, id: string): Promise<void> =>
  node.store.transaction(async (tx) => {
    const row = { id, request_id: id, intent_hash: '', intent: '{}', state: 'accepted', project_id: projectId };
    await tx.db
      .insertInto('task')
      .values({ ...row, ...{ harness: 'command', backend: 'local', cancel_requested: 0, created_at: 1 } })
      .execute();
  });
