// The tools that an agent may use, by the names that its program gives them.

import { OrreryError, type AgentTools } from '@orrery/protocol';
import type { Harness } from './harness.ts';

/** Refuses lists that a program would not keep: a name that it does not know could narrow nothing. @throws OrreryError unsupported */
export const refuseTools = (harness: Pick<Harness, 'id' | 'tools'>, agent: string, lists: AgentTools | null): void => {
  if (lists === null) return;
  const { id, tools: known } = harness;
  if (known === undefined)
    throw new OrreryError('unsupported', `${id} cannot be held to the tools of the agent ${agent}.`, {
      rule: 'It has no lists of tools that this node knows to hold; an agent never runs with more than its file allows.',
      fix: `orrery agent show ${agent}`,
    });
  const strange = [...(lists.allow ?? []), ...lists.deny].filter((name) => !known.includes(name));
  if (strange.length === 0) return;
  throw new OrreryError('unsupported', `${id} has no tool ${strange.join(', ')}, which the agent ${agent} names.`, {
    rule: `Its tools: ${known.join(', ')}.`,
    fix: `orrery agent show ${agent}`,
  });
};
