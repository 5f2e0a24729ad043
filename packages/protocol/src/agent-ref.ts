import { z } from 'zod';
import { safeName } from './scalars.ts';

// How an agent is named, and which file it came from.

/** Whose file it is: `user` and `project` are ours; the others are folders of agent programs in a project. */
export const agentSource = z.enum(['project', 'user', 'claude', 'codex', 'opencode', 'gemini']);
export type AgentSource = z.output<typeof agentSource>;

/** Where a definition came from, and which it was. */
export const agentRef = z.object({
  name: z.string(),
  source: agentSource,
  path: z.string(),
  /** SHA-256 of the file. */
  hash: z.string(),
});
export type AgentRef = z.output<typeof agentRef>;

/** A name, or the file of one source: `user:reviewer`. */
export const agentName = z
  .string()
  .max(120)
  .refine((name) => {
    const [source, rest] = name.includes(':') ? name.split(/:(.*)/s) : [null, name];
    return (source === null || agentSource.safeParse(source).success) && safeName.safeParse(rest).success;
  }, 'a name, or source:name');
