import { z } from 'zod';
import { agentRef } from './agent-ref.ts';
import { id, operation } from './operation.ts';
import { usd } from './scalars.ts';
import { permissionMode, unattended } from './permission.ts';

// An agent is a named definition in a Markdown file: what runs, and what it is told (the body of the file).

/** A tool, as its program calls it. */
const toolName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,99}$/, 'the name of a tool: letters, digits and . _ - only');
const toolNames = z.array(toolName).max(100);

/** The tools of an agent, by the names that its program gives them. */
export const agentTools = z.strictObject({
  /** Those alone; null: all that are not denied. */
  allow: toolNames.nullable().default(null),
  deny: toolNames.default([]),
});
export type AgentTools = z.output<typeof agentTools>;

/** A skill, as every program that knows skills takes its name. */
export const skillName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'the name of a skill: small letters, digits and single dashes between them');

export const agentView = agentRef.extend({
  description: z.string().nullable(),
  harness: z.string().nullable(),
  model: z.string().nullable(),
  effort: z.string().nullable(),
  mode: permissionMode.nullable(),
  egress: z.array(z.string()),
  budgetUsd: usd.nullable(),
  /** Null: all that its program has. */
  tools: agentTools.nullable(),
  /** What becomes of what it asks in a session; null: as the session says. */
  unattended: unattended.nullable(),
  /** Folders with a SKILL.md that are offered to its program. */
  skills: z.array(z.string()),
  /** MCP servers of its program: a command of its own, or (null) the operator's of that name. */
  mcp: z.array(z.object({ name: z.string(), command: z.array(z.string()).nullable() })),
  /** What it is told beside each prompt. */
  prompt: z.string(),
  /** Keys of another program's file that have no meaning here. */
  ignored: z.array(z.string()),
  /** Files of the same name that it hides. */
  hides: z.array(z.string()),
  /** Why it cannot be used, in three lines; null: it can. */
  problem: z.array(z.string()).nullable(),
});
export type AgentView = z.output<typeof agentView>;

const query = z.object({ project: z.string().max(4096).optional() });

/** Operations on agents. */
export const agentOperations = {
  agentList: operation({
    method: 'get',
    path: '/agents',
    scope: 'viewer',
    summary: 'Agents: those of the user, and of a project at its newest commit.',
    query,
    answer: z.object({ items: z.array(agentView) }),
  }),
  agentShow: operation({
    method: 'get',
    path: '/agents/:id',
    scope: 'viewer',
    summary: 'One agent, by name or source:name.',
    params: id,
    query,
    answer: agentView,
  }),
} as const;
