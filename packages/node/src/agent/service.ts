import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { closest, OrreryError, type AgentSource, type AgentView, type PermissionMode, type Unattended } from '@orrery/protocol';
import { AGENT_FILE_BYTES, AGENT_FILES } from '../kernel/limits.ts';
import { chosen, projectFolders, readAgent, type AgentFile } from './model.ts';

/** A file of a commit, relative to the folder that was listed. */
export type TreeEntry = { readonly path: string; readonly kind: string; readonly bytes: number; readonly sha: string };

export type AgentParts<Entry extends TreeEntry = TreeEntry> = {
  /** The user's own folder; it need not exist. */
  readonly userFolder: string;
  /** The user's own skills; it need not exist. */
  readonly userSkills: string;
  readonly listTree: (
    project: string,
    at: { readonly commit: string; readonly folder: string },
  ) => Promise<{ readonly files: readonly Entry[] }>;
  readonly readFiles: (project: string, files: readonly Entry[]) => AsyncIterable<Uint8Array>;
};

/** A commit of a project. */
export type AgentsAt = { readonly project: string; readonly commit: string };

/** Use cases of agents: files are read when they are asked for. */
export type Agents = {
  /** Every name once, the file that counts. `at` null: the user's alone. */
  list(at: AgentsAt | null): Promise<AgentView[]>;
  /** One that can be used or not, by name or `source:name`. @throws OrreryError not_found */
  find(name: string, at: AgentsAt | null): Promise<AgentView>;
};

const tooMany = (folder: string): OrreryError =>
  new OrreryError('limit_reached', `${folder} has too many files.`, { rule: `A folder has at most ${AGENT_FILES} agents.` });

const isAgentFile = (name: string): boolean => name.endsWith('.md') && !name.includes('/');

export const createAgents = <Entry extends TreeEntry>(parts: AgentParts<Entry>): Agents => {
  const all = async (at: AgentsAt | null): Promise<AgentView[]> => {
    const files = await userFiles(parts.userFolder);
    if (at !== null)
      for (const [source, folder] of projectFolders) files.push(...(await projectFiles(parts, at, { source, folder })));
    return files.map(readAgent);
  };
  return {
    list: async (at) => chosen(await all(at)),
    find: async (name, at) => {
      const agents = await all(at);
      const [source, own] = name.includes(':') ? (name.split(/:(.*)/s) as [AgentSource, string]) : [null, name];
      const found = chosen(source === null ? agents : agents.filter((agent) => agent.source === source));
      return found.find((agent) => agent.name === own) ?? notFound(own, found);
    },
  };
};

const notFound = (name: string, known: readonly AgentView[]): never => {
  const guess = closest(
    name,
    known.map((agent) => agent.name),
  );
  throw new OrreryError('not_found', `There is no agent ${name.slice(0, 100)}.`, {
    rule:
      guess === null
        ? 'Agents are .orrery/agents/NAME.md in the base commit of the project, or agents/NAME.md beside your configuration.'
        : `Did you mean "${guess}"?`,
    fix: 'orrery agent list',
  });
};

/** Plain files of a folder of a commit: links are not followed, what is too large is not read. */
const projectFiles = async <Entry extends TreeEntry>(
  { listTree, readFiles }: AgentParts<Entry>,
  { project, commit }: AgentsAt,
  { source, folder }: { readonly source: AgentSource; readonly folder: string },
): Promise<AgentFile[]> => {
  const { files } = await listTree(project, { commit, folder });
  const found = files.filter(({ path, kind }) => isAgentFile(path) && kind !== 'link');
  if (found.length > AGENT_FILES) throw tooMany(folder);
  const small = found.filter(({ bytes }) => bytes <= AGENT_FILE_BYTES);
  const contents: Uint8Array[] = [];
  for await (const one of readFiles(project, small)) contents.push(one);
  const read = new Map(small.map((entry, index) => [entry.path, contents[index]]));
  // One that was not read says by its length why.
  const unread = new Uint8Array(AGENT_FILE_BYTES + 1);
  return found.map(({ path }) => ({ source, path: `${folder}/${path}`, contents: read.get(path) ?? unread }));
};

const userFiles = async (folder: string): Promise<AgentFile[]> => {
  const names = await readdir(folder).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return [];
    throw thrown;
  });
  const found = names.filter(isAgentFile).toSorted();
  if (found.length > AGENT_FILES) throw tooMany(folder);
  const files: AgentFile[] = [];
  for (const name of found) {
    const path = join(folder, name);
    const contents = await plainFile(path);
    if (contents !== null) files.push({ source: 'user', path, contents });
  }
  return files;
};

/** The beginning of a plain file; null: it is none (a link, a pipe, a folder). */
const plainFile = async (path: string): Promise<Uint8Array | null> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const room = new Uint8Array(AGENT_FILE_BYTES + 1);
    const { bytesRead } = await file.read(room, 0, room.byteLength, 0);
    return room.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
};

/** What an agent may be asked for in a session, beside what the request says itself. */
export type AgentWish = {
  readonly harness: string | null;
  readonly model: string | null;
  readonly effort: string | null;
  readonly mode: PermissionMode | null;
};

/** What it may reach, within what the operator allows, and what it may cost. */
type Bounds = { readonly egress: readonly string[]; readonly budgetUsd: number | null };

const careful: readonly PermissionMode[] = ['ask', 'plan'];

/**
 * What of an agent counts in a session. A file of the project may choose a mode that asks as much as `ask` does, never one that asks
 * less: that is the person's word. @throws OrreryError
 */
export const wishOf = (
  agent: AgentView,
  given: { readonly mode: PermissionMode | null },
): AgentWish & Bounds & { readonly unattended: Unattended | null } => {
  const { harness, model, effort, mode, budgetUsd, egress } = usable(agent);
  if (agent.source !== 'user' && given.mode === null && mode !== null && !careful.includes(mode))
    throw new OrreryError('widening_refused', `${agent.path} asks for the mode "${mode}".`, {
      rule: 'A file of the project does not say what happens without asking; you do.',
      fix: `orrery session start --agent ${agent.name} --mode ${mode}`,
    });
  return { harness, model, effort, mode, budgetUsd, egress, unattended: agent.unattended };
};

/** The same of a task. Nobody is asked in one, whoever wrote the file: a mode that asks cannot be kept. @throws OrreryError */
export const taskWishOf = (agent: AgentView): Omit<AgentWish, 'mode'> & Bounds => {
  const { harness, model, effort, mode, egress, budgetUsd } = usable(agent);
  if (mode !== null && mode !== 'all')
    throw new OrreryError('unsupported', `The agent ${agent.name} has the mode "${mode}", which a task cannot keep.`, {
      rule: 'In a task nobody is asked; an agent is never run with less care than its file says.',
      fix: `orrery session start --agent ${agent.name}`,
    });
  if (agent.unattended === 'wait')
    throw new OrreryError('unsupported', `The agent ${agent.name} waits for a person, which a task cannot.`, {
      rule: 'In a task nobody is asked: its questions are declined.',
      fix: `orrery session start --agent ${agent.name}`,
    });
  return { harness, model, effort, egress, budgetUsd };
};

/** @throws OrreryError for one with which something is wrong */
const usable = (agent: AgentView): AgentView => {
  const { problem } = agent;
  if (problem === null) return agent;
  throw new OrreryError('config_invalid', problem[0] ?? `The agent ${agent.name} cannot be used.`, {
    ...(problem[1] === undefined ? {} : { rule: problem[1] }),
    fix: problem[2] ?? 'orrery agent list',
  });
};
