import { readFile, stat } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';

/** What a running node says about itself in its data directory (`node.json`, mode 0600). */
export type Descriptor = {
  readonly installationId: string;
  readonly generation: string;
  readonly pid: number;
  readonly url: string;
  /** The file that holds the owner's token. */
  readonly tokenFile: string;
  readonly version: string;
  readonly startedAt: string;
};

const isMissing = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR');

/** Reads the descriptor; null when there is none. One that others may read or write, or that is broken, is refused. */
export const readDescriptor = async (path: string): Promise<Descriptor | null> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0)
      throw new OrreryError('node_mismatch', 'The description of the running node may be read or written by others.', {
        rule: 'Only its owner may say where the node is.',
        fix: `chmod 600 ${path}`,
      });
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw thrown;
  }
  const value = parse(text);
  if (value === null)
    throw new OrreryError('node_mismatch', 'The description of the running node cannot be read.', {
      rule: 'A node writes it whole when it starts.',
      fix: 'orrery up',
    });
  return value;
};

const parse = (text: string): Descriptor | null => {
  try {
    const value = JSON.parse(text) as Partial<Record<keyof Descriptor, unknown>>;
    const texts = [value.installationId, value.generation, value.url, value.tokenFile, value.version, value.startedAt];
    return texts.every((one) => typeof one === 'string') && Number.isInteger(value.pid) ? (value as Descriptor) : null;
  } catch {
    return null;
  }
};
