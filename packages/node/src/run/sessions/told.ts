import type { MemoryKind } from '@orrery/protocol';
import { keptAgent } from '../../store/kept-agent.ts';
import type { SessionRow } from '../../session/index.ts';
import { memoryNote } from '../memory.ts';

/** What its program is told beside each prompt: who it is, and what it remembers. */
export const toldOf = (session: SessionRow, memory: readonly MemoryKind[]): string | null => {
  const told = [keptAgent(session)?.prompt ?? null, memoryNote(memory, { readOnly: false })].filter((part) => part !== null);
  return told.length === 0 ? null : told.join('\n\n');
};
