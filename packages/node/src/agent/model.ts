// Glossary. An agent is a named definition in a Markdown file: front matter says what runs, the body is what it is told. A
// source is whose file it is. Ours are strict; those of other programs are read as far as their keys mean the same here, and one that
// narrows what an agent may do cannot be used, since it would not be kept.

import { createHash } from 'node:crypto';
import {
  agentTools,
  OrreryError,
  permissionMode,
  safeName,
  skillName,
  toOrreryError,
  unattended,
  usd,
  type AgentSource,
  type AgentTools,
  type AgentView,
} from '@orrery/protocol';
import { z } from 'zod';
import { mcpServerName } from '../config/mcp-schema.ts';
import { AGENT_SERVERS } from '../harness/limits.ts';
import { AGENT_SKILLS } from '../kernel/limits.ts';
import { invalid, parted, read, textOf } from './front-matter.ts';

/** One file as it was found. */
export type AgentFile = {
  readonly source: AgentSource;
  /** For people: relative to the project, or absolute. */
  readonly path: string;
  readonly contents: Uint8Array;
};

/** Where each source has its files in a project; the user's are beside the configuration. */
export const projectFolders: readonly (readonly [AgentSource, string])[] = [
  ['project', '.orrery/agents'],
  ['claude', '.claude/agents'],
  ['codex', '.codex/agents'],
  ['opencode', '.opencode/agents'],
  ['opencode', '.opencode/agent'],
  ['gemini', '.gemini/agents'],
];

/** Of two with one name, the source that stands first here counts. */
export const precedence: readonly AgentSource[] = ['project', 'user', 'claude', 'codex', 'opencode', 'gemini'];

/** A server by its name in the operator's configuration, or a command of the environment. */
const serverName = z.string().regex(mcpServerName, 'the name of a server: small letters, digits and _ - only, at most 32');
const server = z.union([
  serverName,
  z.strictObject({
    name: serverName,
    command: z
      .array(
        z
          .string()
          .min(1)
          .max(1_000)
          .regex(/^[^\0]*$/),
      )
      .min(1)
      .max(50),
  }),
]);

const nameOfServer = (one: z.output<typeof server>): string => (typeof one === 'string' ? one : one.name);

/** Front matter of our own files. */
const ownSchema = z.strictObject({
  name: safeName.optional(),
  description: z.string().max(2_000).optional(),
  harness: z.string().min(1).max(100).optional(),
  model: z.string().min(1).max(200).optional(),
  effort: z.string().min(1).max(50).optional(),
  mode: permissionMode.optional(),
  egress: z.array(z.string().min(1).max(300)).max(100).optional(),
  budget: usd.optional(),
  /** A list is what it may use and nothing else. */
  tools: z.union([agentTools.shape.deny.unwrap(), agentTools]).optional(),
  unattended: unattended.optional(),
  /** Names of skills: folders with a SKILL.md. */
  skills: z.array(skillName).max(AGENT_SKILLS).optional(),
  /** MCP servers of its program. */
  mcp: z
    .array(server)
    .max(AGENT_SERVERS)
    .refine((all) => new Set(all.map(nameOfServer)).size === all.length, 'two servers have one name')
    .optional(),
});

/** What of another program's front matter means the same here. */
const foreignSchema = z.looseObject({
  name: z.string().max(100).optional(),
  description: z.string().max(20_000).optional(),
  model: z.string().max(200).optional(),
  effort: z.string().max(50).optional(),
});

/** Keys of other programs' files that narrow what an agent may do. */
const narrowing =
  /^(tools|disallowed_?tools|allowed_?tools|permission|permissions|permission_?mode|sandbox(_mode)?|hooks|mcp_?servers|skills)$/i;

/** What a file says of tools; an empty word narrows nothing. */
const toolsOf = (said: readonly string[] | AgentTools | undefined): AgentTools | null => {
  if (said === undefined) return null;
  const lists = 'deny' in said ? said : { allow: [...said], deny: [] };
  return lists.allow === null && lists.deny.length === 0 ? null : lists;
};

type Defined = Pick<
  AgentView,
  | 'description'
  | 'harness'
  | 'model'
  | 'effort'
  | 'mode'
  | 'egress'
  | 'budgetUsd'
  | 'tools'
  | 'unattended'
  | 'skills'
  | 'mcp'
  | 'ignored'
> & {
  readonly name: string | null;
  readonly refused: OrreryError | null;
};

const ownAgent = (front: string, { path }: AgentFile): Defined => {
  const value = read(front, ownSchema, path);
  return {
    name: value.name ?? null,
    description: value.description ?? null,
    harness: value.harness ?? null,
    model: value.model ?? null,
    effort: value.effort ?? null,
    mode: value.mode ?? null,
    egress: value.egress ?? [],
    budgetUsd: value.budget ?? null,
    tools: toolsOf(value.tools),
    unattended: value.unattended ?? null,
    skills: [...new Set(value.skills ?? [])],
    mcp: (value.mcp ?? []).map((one) => (typeof one === 'string' ? { name: one, command: null } : one)),
    ignored: [],
    refused: null,
  };
};

const nothingNarrowed = { tools: null, unattended: null, skills: [] as string[], mcp: [] as AgentView['mcp'] };

/** Models that mean "the one of whoever calls it". */
const noModel = new Set(['inherit', 'default']);

const foreignAgent = (front: string, { path, source }: AgentFile): Defined => {
  const { name, description, model, effort, ...others } = read(front, foreignSchema, path);
  const narrows = Object.keys(others).filter((key) => narrowing.test(key));
  return {
    name: name ?? null,
    description: description ?? null,
    harness: source,
    model: model === undefined || noModel.has(model) ? null : model,
    effort: effort ?? null,
    mode: null,
    egress: [],
    budgetUsd: null,
    ...nothingNarrowed,
    ignored: Object.keys(others).map((key) => key.slice(0, 100)),
    refused:
      narrows.length === 0
        ? null
        : new OrreryError('unsupported', `${path} narrows what the agent may do (${narrows.join(', ')}).`, {
            rule: 'This node cannot keep that yet; an agent is never run with more than its file allows.',
            fix: 'orrery agent new NAME',
          }),
  };
};

const nameOfPath = (path: string): string => (path.split('/').at(-1) ?? '').replace(/\.md$/, '');

const nothing = {
  description: null,
  harness: null,
  model: null,
  effort: null,
  mode: null,
  egress: [],
  budgetUsd: null,
  ...nothingNarrowed,
  prompt: '',
  ignored: [],
  hides: [],
};

/** Reads one file. What is wrong with it is its `problem`: one bad file hides no other. */
export const readAgent = (file: AgentFile): AgentView => {
  const ref = {
    source: file.source,
    path: file.path,
    hash: createHash('sha256').update(file.contents).digest('hex'),
  };
  const own = nameOfPath(file.path);
  try {
    const { front, body } = parted(textOf(file), file.path);
    const ours = file.source === 'project' || file.source === 'user';
    const { name, refused, ...defined } = ours ? ownAgent(front, file) : foreignAgent(front, file);
    const wrong = refused ?? nameProblem(name ?? own, own, file);
    return { ...nothing, ...ref, ...defined, name: own, prompt: body.trim(), problem: wrong?.toLines() ?? null };
  } catch (thrown) {
    return { ...nothing, ...ref, name: own, problem: toOrreryError(thrown).toLines() };
  }
};

const nameProblem = (name: string, own: string, { path, source }: AgentFile): OrreryError | null => {
  if (!safeName.safeParse(own).success)
    return invalid(path, 'its name cannot be used', {
      rule: 'Letters, digits and . _ - only, beginning with a letter or digit.',
    });
  if (name === own || (source !== 'project' && source !== 'user')) return null;
  return invalid(path, 'it is called otherwise than its file', {
    rule: 'An agent has the name of its file.',
    fix: `Call the file ${name}.md.`,
  });
};

/** Each name once, the file that counts, with what it hides. */
export const chosen = (agents: readonly AgentView[]): AgentView[] => {
  const byRank = agents.toSorted((one, other) => precedence.indexOf(one.source) - precedence.indexOf(other.source));
  const found = new Map<string, AgentView>();
  for (const agent of byRank) {
    const first = found.get(agent.name);
    found.set(agent.name, first === undefined ? agent : { ...first, hides: [...first.hides, `${agent.source}: ${agent.path}`] });
  }
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
};
