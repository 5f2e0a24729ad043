// The directory of one keeper: what the client writes there, what it reads there, and how it is settled.
import { mkdirSync, writeFileSync } from 'node:fs';
import { lstat, readFile, readdir, rmdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { inputStateOf } from './input-journal.ts';
import { isAlive } from './identity.ts';
import type { ProcessTable } from './identity.ts';
import { JOURNAL_FILE_BYTES, RECORD_FILE_BYTES } from './limits.ts';
import { readExit, readIdentity } from './records.ts';
import { renderEnvFile, renderSpecFile } from './spec-file.ts';
import type { ExitRecord, InputState, KeeperIdentity, KeeperRemains, KeeperSpec, OutputStream } from './types.ts';

/** Every name a keeper's directory can hold, half-made ones too. */
const NAMES = ['spec', 'env', 'status', 'guarantees', 'sock', 'stdout', 'stderr', 'released', 'input', 'exit'];

const errno = (thrown: unknown): string | null =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;

/** The value, or null when the path is not there; any other failure is thrown. */
const orMissing = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (thrown) {
    if (errno(thrown) === 'ENOENT') return null;
    throw thrown;
  }
};

/**
 * Makes `dir` (0700, must not exist) with the spec and the environment (0600) in it. Rejects with `conflict` when it exists.
 * The calls block: three small files are written sooner than a pool of threads on a busy machine gets to them.
 */
export const prepareDirectory = async (dir: string, spec: KeeperSpec): Promise<void> => {
  const specText = renderSpecFile(spec);
  const env = renderEnvFile(spec.env);
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (thrown) {
    if (errno(thrown) !== 'EEXIST') throw thrown;
    throw new OrreryError('conflict', `A program was already started in ${dir}.`, {
      rule: 'One directory holds one run of one program.',
    });
  }
  const created = { flag: 'wx', mode: 0o600 };
  writeFileSync(join(dir, 'spec'), specText, created);
  writeFileSync(join(dir, 'env'), env, created);
};

const readRecord = async <T>(path: string, read: (value: unknown) => T): Promise<T | null> => {
  const found = await orMissing(stat(path));
  if (found === null || found.size > RECORD_FILE_BYTES) return null;
  try {
    return read(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    // Written by rename, so a record that does not parse was damaged later: it says nothing we may rely on.
    return null;
  }
};

/** The identity in `DIR/status`; null when there is none or it is unreadable. */
export const readStatus = (dir: string): Promise<KeeperIdentity | null> => readRecord(join(dir, 'status'), readIdentity);

/** The record in `DIR/exit`; null when the program has not ended, or the keeper died before it could say how. */
export const readExitRecord = (dir: string): Promise<ExitRecord | null> => readRecord(join(dir, 'exit'), readExit);

const sizeOf = async (path: string): Promise<number> => (await orMissing(stat(path)))?.size ?? 0;

/** What the files of `dir` say, whether its keeper lives or not. */
export const readRemains = async (dir: string): Promise<KeeperRemains> => {
  const [exit, identity, stdoutBytes, stderrBytes] = await Promise.all([
    readExitRecord(dir),
    readStatus(dir),
    sizeOf(join(dir, 'stdout')),
    sizeOf(join(dir, 'stderr')),
  ]);
  return { exit, identity, stdoutBytes, stderrBytes };
};

/** The offset below which the spool of `stream` is gone. */
export const readReleased = async (dir: string, stream: OutputStream): Promise<number> => {
  const text = await orMissing(readFile(join(dir, 'released'), 'utf8'));
  const line = text?.split('\n').find((one) => one.startsWith(`${stream} `));
  return line === undefined ? 0 : Number(line.slice(stream.length + 1));
};

/** What happened to the input `id`, from the journal alone. */
export const readInputState = async (dir: string, id: string, processes: ProcessTable): Promise<InputState> => {
  const path = join(dir, 'input');
  const size = await sizeOf(path);
  if (size === 0) return { state: 'unwritten' };
  if (size > JOURNAL_FILE_BYTES)
    throw new OrreryError('input_too_large', `The input journal of a program has ${size} bytes.`, {
      rule: `At most ${JOURNAL_FILE_BYTES} bytes are read.`,
    });
  const identity = await readStatus(dir);
  const sameBoot = identity !== null && identity.bootId === (await processes.bootId());
  return inputStateOf(await readFile(path, 'latin1'), id, sameBoot);
};

/** Whether the keeper that `dir` names lives, as exactly the process it was. */
export const keeperAlive = async (dir: string, processes: ProcessTable): Promise<boolean> => {
  const identity = await readStatus(dir);
  return identity !== null && isAlive(identity, processes);
};

/**
 * Removes the directory of a keeper that is gone: its own files by name, then the directory itself. Refuses (`conflict`)
 * while the keeper lives, and (`not_empty`) when something is in it that no keeper makes. A missing directory is fine.
 */
export const removeDirectory = async (dir: string, processes: ProcessTable): Promise<void> => {
  if ((await orMissing(lstat(dir))) === null) return;
  if (await keeperAlive(dir, processes))
    throw new OrreryError('conflict', `The program of ${dir} is still held by its keeper.`, {
      rule: 'A run is removed after its end.',
    });
  const own = ((await orMissing(readdir(dir))) ?? []).filter((name) => NAMES.includes(name.replace(/\.tmp$/, '')));
  await Promise.all(own.map((name) => orMissing(unlink(join(dir, name)))));
  try {
    await orMissing(rmdir(dir));
  } catch (thrown) {
    if (errno(thrown) !== 'ENOTEMPTY') throw thrown;
    throw new OrreryError('not_empty', `${dir} holds something that no keeper made.`, {
      rule: 'Only files the node made are deleted.',
    });
  }
};
