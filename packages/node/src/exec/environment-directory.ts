// The directory of one environment in this ring's own state: a record, carried-in files, and a keeper directory for each run.
//   <state>/<backend>/<environment id>/{environment.json, provided/, runs/<run id>/}
import { mkdir, readFile, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import { writeDurably, writeWhole } from '../kernel/durable-file.ts';
import { PROVIDED_FILE_BYTES } from './limits.ts';

const recordSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  taskId: z.string(),
  frontPort: z.int().min(1).max(65535),
  /** Empty folders that stand for protected paths which were not there; parents first. Taken away when it is settled. */
  placeholders: z.array(z.string()).optional(),
});

/** What must be known of an environment after a restart beside its spec. No secrets. */
export type EnvironmentRecord = z.output<typeof recordSchema>;

const errno = (thrown: unknown): string | null =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;

const orMissing = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (thrown) {
    if (errno(thrown) === 'ENOENT') return null;
    throw thrown;
  }
};

/** An id as one name of a directory; anything else is refused, since ids become paths. */
export const checkName = (what: string, name: string): string => {
  if (/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/.test(name)) return name;
  throw new OrreryError('invalid_input', `${what} "${name}" is not a name.`, {
    rule: 'One to 128 of A–Z a–z 0–9 . _ : - and a letter or digit first.',
  });
};

/**
 * Null for what is no JSON: the record is not synced when it is made, so a power cut can leave it empty or torn. Nothing
 * of the environment runs then: its programs do not outlive the machine.
 */
const parseRecord = (text: string): EnvironmentRecord | null => {
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return null;
  }
  return recordSchema.parse(found);
};

/** The paths and files of one environment. */
export type EnvironmentDirectory = {
  readonly path: string;
  readonly provided: string;
  runDir(runId: string): string;
  /** Ids of the runs that have a directory. */
  runs(): Promise<string[]>;
  /** Makes the directory and its record; `conflict` when the environment has been opened before and has runs. */
  create(record: EnvironmentRecord): Promise<void>;
  /** Null when the environment was never opened here, or the machine lost power since. */
  read(): Promise<EnvironmentRecord | null>;
  /** Adds to the placeholders of the record. */
  notePlaceholders(made: readonly string[]): Promise<void>;
  provide(name: string, content: Uint8Array): Promise<string>;
  /** Removes everything but keeper directories, which must be gone. Idempotent. */
  remove(): Promise<void>;
};

const removeProvided = async (provided: string): Promise<void> => {
  for (const name of (await orMissing(readdir(provided))) ?? []) await orMissing(unlink(join(provided, name)));
  await orMissing(rmdir(provided));
};

/** The directory of environment `id` below `parent` (the backend's own). */
export const environmentDirectory = (parent: string, id: string): EnvironmentDirectory => {
  const path = join(parent, checkName('The environment', id));
  const provided = join(path, 'provided');
  const runsPath = join(path, 'runs');
  const recordPath = join(path, 'environment.json');
  const runs = async (): Promise<string[]> => (await orMissing(readdir(runsPath))) ?? [];
  const read = async (): Promise<EnvironmentRecord | null> => {
    const text = await orMissing(readFile(recordPath, 'utf8'));
    return text === null ? null : parseRecord(text);
  };
  let noting: Promise<void> = Promise.resolve();
  const note = async (made: readonly string[]): Promise<void> => {
    const record = await read();
    if (record === null) return;
    const placeholders = [...new Set([...(record.placeholders ?? []), ...made])];
    // Synced: the folders it names outlive the machine, and are to be taken away also then.
    await writeDurably(recordPath, `${JSON.stringify({ ...record, placeholders })}\n`);
  };
  return {
    path,
    provided,
    // One after the other: each writes what it read.
    notePlaceholders: (made) => (noting = noting.then(() => note(made))),
    runDir: (runId) => join(runsPath, checkName('The run', runId)),
    runs,
    read,
    create: async (record) => {
      if ((await runs()).length > 0) {
        throw new OrreryError('conflict', `The environment ${id} is open already.`, {
          rule: 'An environment is opened once.',
          fix: 'Reopen it to find its programs again.',
        });
      }
      for (const made of [path, provided, runsPath]) await mkdir(made, { recursive: true, mode: 0o700 });
      // Not synced, nor is what is carried in: both must survive the node, and after a power cut no program is left to need them.
      await writeWhole(recordPath, `${JSON.stringify(record)}\n`);
    },
    provide: async (name, content) => {
      if (content.length > PROVIDED_FILE_BYTES) {
        throw new OrreryError('input_too_large', `A file of ${content.length} bytes is too large to be carried in.`, {
          rule: `At most ${PROVIDED_FILE_BYTES} bytes.`,
        });
      }
      const file = join(provided, checkName('The file', name));
      await writeWhole(file, content);
      return file;
    },
    remove: async () => {
      await removeProvided(provided);
      await orMissing(unlink(recordPath));
      await orMissing(rmdir(runsPath));
      await orMissing(rmdir(path));
    },
  };
};
