import { readFile, unlink } from 'node:fs/promises';
import { isId } from '@orrery/protocol';
import { writeDurably } from '../kernel/durable-file.ts';
import type { Ids } from '../kernel/ids.ts';

/** What a running node says of itself to clients of the same user (`node.json`, 0600). */
export type NodeDescriptor = {
  readonly installationId: string;
  /** New for each start. */
  readonly generation: string;
  readonly pid: number;
  readonly url: string;
  readonly tokenFile: string;
  readonly version: string;
  readonly startedAt: string;
};

/** Writes the descriptor whole, for the node's user alone. */
export const writeDescriptor = (file: string, descriptor: NodeDescriptor): Promise<void> =>
  writeDurably(file, `${JSON.stringify(descriptor, null, 2)}\n`, { mode: 0o600 });

/** Takes the descriptor away when it is still that of this start. */
export const removeDescriptor = async (file: string, generation: string): Promise<void> => {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null || !text.includes(JSON.stringify(generation))) return;
  await unlink(file).catch(() => undefined);
};

/** The id of this installation: made once, the same for as long as the data directory lives. */
export const installationId = async (file: string, ids: Ids): Promise<string> => {
  const there = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (isId('installation', there)) return there;
  const made = ids('installation');
  await writeDurably(file, `${made}\n`);
  return made;
};
