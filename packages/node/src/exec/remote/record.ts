// What must be known of a place after a restart of the node: one file of each environment, beside the lists of what was staged.
//   <state>/<backend>/<environment id>/{remote.json, staged-<tree>}
import { mkdir, readFile, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { writeDurably } from '../../kernel/durable-file.ts';
import { checkName } from '../environment-directory.ts';

const pairSchema = z.object({ local: z.string(), inside: z.string() });

const recordSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  taskId: z.string(),
  /** How far it came; each step is repeated until the next one is written. */
  step: z.enum(['opening', 'placed', 'staged-in', 'open', 'staged-out', 'removed']),
  ref: z.record(z.string(), z.string()).nullable(),
  root: z.string().nullable(),
  frontPort: z.int().min(1).max(65535),
  /** Directories of this machine and what they are called inside. */
  pairs: z.array(pairSchema),
  /** Whether a program was ever started. */
  started: z.boolean(),
  /** Whether programs may have changed something that was not carried out yet. */
  dirty: z.boolean(),
  syncedAtMs: z.number().nullable(),
  /** How many programs the kernel had ended there for want of memory when one was started last. */
  memoryKills: z.int().default(0),
  /** What could not be brought back; the record is kept until a later start, so that it is said after a crash too. */
  lost: z.string().nullable(),
});

/** What is written of a place. No secrets. */
export type PlaceRecord = z.output<typeof recordSchema>;

/** The files of one environment. */
export type PlaceDirectory = {
  readonly path: string;
  /** Null when it was never opened, or is closed. */
  read(): Promise<PlaceRecord | null>;
  write(record: PlaceRecord): Promise<void>;
  readList(tree: string): Promise<Buffer | null>;
  writeList(tree: string, list: Uint8Array): Promise<void>;
  /** Idempotent. */
  remove(): Promise<void>;
};

const orMissing = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return null;
    throw thrown;
  }
};

/** Ids of the environments that have a directory below `parent`. */
export const recordedPlaces = async (parent: string): Promise<string[]> => (await orMissing(readdir(parent))) ?? [];

/** The files of environment `id` below `parent` (the backend's own). */
export const placeDirectory = (parent: string, id: string): PlaceDirectory => {
  const path = join(parent, checkName('The environment', id));
  const file = join(path, 'remote.json');
  const listFile = (tree: string): string => join(path, `staged-${tree}`);
  return {
    path,
    read: async () => {
      const text = await orMissing(readFile(file, 'utf8'));
      return text === null ? null : recordSchema.parse(JSON.parse(text));
    },
    write: async (record) => {
      await mkdir(path, { recursive: true, mode: 0o700 });
      await writeDurably(file, `${JSON.stringify(record)}\n`);
    },
    readList: (tree) => orMissing(readFile(listFile(tree))),
    writeList: (tree, list) => writeDurably(listFile(tree), list),
    remove: async () => {
      // The record goes last: what is half removed is still found.
      for (const name of ((await orMissing(readdir(path))) ?? []).filter((one) => one !== 'remote.json'))
        await orMissing(unlink(join(path, name)));
      await orMissing(unlink(file));
      await orMissing(rmdir(path));
    },
  };
};
