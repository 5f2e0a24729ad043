// Glossary. A conversation is what an agent program remembers of its turns, in files below its home. A kept one is the
// node's own bounded record of it, one file for each task, so that a later task can go on with it elsewhere.

import { mkdir, readdir, readFile, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { OrreryError } from '@orrery/protocol';
import { z } from 'zod';
import type { Environment } from '../exec/backend.ts';
import { absoluteBytes, lookAt, showBytes, walkTree } from '../files/tree-walk.ts';
import type { ConversationFile, ConversationStore } from '../harness/harness.ts';
import { writeDurably } from '../kernel/durable-file.ts';
import { CONVERSATION_BYTES, CONVERSATION_ENTRIES } from '../kernel/limits.ts';

const pack = promisify(gzip);
const unpack = promisify(gunzip);

const kept = z.object({
  conversation: z.string(),
  files: z.array(z.object({ path: z.string(), content: z.base64() })).max(CONVERSATION_ENTRIES),
});

const fileOf = (directory: string, taskId: string): string => join(directory, `${taskId}.json.gz`);

/** The folder in which conversations are, or null when a program made something else of the way there: no link is followed. */
const folderIn = (home: string, folder: string): string | null => {
  let path = home;
  for (const name of folder.split('/')) {
    path = join(path, name);
    if (lookAt(path)?.isDirectory() !== true) return null;
  }
  return path;
};

/** Plain files of a conversation in a home whose programs have ended, and of those that it goes on from. Rejects with `input_too_large` beyond its bounds, `not_found` without one of them. */
const filesOf = async (home: string, store: ConversationStore, conversation: string): Promise<ConversationFile[]> => {
  const root = folderIn(home, store.folder);
  if (root === null) return [];
  const files: ConversationFile[] = [];
  const tree = (await walkTree(root)).flatMap(({ path, type }) => (type === 'file' ? [path] : []));
  const named = [conversation];
  let bytes = 0;
  // What one goes on from is looked for behind it.
  for (const one of named) {
    const mine = tree.filter((path) => store.holds(showBytes(path), one));
    if (mine.length === 0 && one !== conversation)
      throw new OrreryError('not_found', 'What it goes on from is gone.', { rule: 'It goes on from all its files.' });
    for (const name of mine) {
      bytes += lookAt(absoluteBytes(root, name))?.size ?? 0;
      if (bytes > CONVERSATION_BYTES || files.length >= CONVERSATION_ENTRIES)
        throw new OrreryError('input_too_large', 'The conversation is too large to be kept.', {
          rule: `At most ${CONVERSATION_BYTES} bytes in ${CONVERSATION_ENTRIES} files of one conversation are kept after its task.`,
        });
      const file = { path: showBytes(name), content: await readFile(absoluteBytes(root, name)) };
      const base = store.base?.(file) ?? null;
      if (base !== null && !named.includes(base)) named.push(base);
      files.push(file);
    }
  }
  return files;
};

/** A log of lines up to its last whole one. */
const wholeLines = (file: ConversationFile): ConversationFile =>
  file.path.endsWith('.jsonl') ? { ...file, content: file.content.subarray(0, file.content.lastIndexOf(10) + 1) } : file;

/**
 * Keeps the conversation of a task whose programs have ended, in the place of an earlier one; null when it is kept, else
 * why not, in words. Repeatable. Nothing that a program left there can fail the task.
 */
export const keepConversation = async (
  directory: string,
  of: {
    readonly taskId: string;
    readonly home: string;
    readonly store: ConversationStore;
    readonly conversation: string;
    /** It may be written to meanwhile: a line that is not whole is left out. */
    readonly written?: true;
  },
): Promise<string | null> => {
  const { taskId } = of;
  try {
    const found = await filesOf(of.home, of.store, of.conversation);
    const files = of.written === true ? found.map(wholeLines) : found;
    if (files.length === 0)
      throw new OrreryError('not_found', 'Its program left no file of it.', { rule: 'It goes on from those files.' });
    const text = JSON.stringify({
      conversation: of.conversation,
      files: files.map(({ path, content }) => ({ path, content: Buffer.from(content).toString('base64') })),
    });
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeDurably(fileOf(directory, taskId), await pack(text));
    return null;
  } catch (thrown) {
    if (!(thrown instanceof OrreryError)) throw thrown;
    // That of an earlier attempt is not this one.
    await unlink(fileOf(directory, taskId)).catch(() => undefined);
    return `the conversation is not kept: ${thrown.message} ${thrown.rule ?? ''}`.trimEnd();
  }
};

/** Whether the conversation of a task is kept. */
export const isConversationKept = (directory: string, taskId: string): boolean => lookAt(fileOf(directory, taskId)) !== null;

/** Puts the kept conversation of a task where the program of an environment looks for it. @throws OrreryError not_found */
export const carryConversation = async (
  directory: string,
  {
    taskId,
    store,
    environment,
  }: { readonly taskId: string; readonly store: ConversationStore; readonly environment: Environment },
): Promise<void> => {
  const packed = await readFile(fileOf(directory, taskId)).catch((thrown: unknown) => {
    if ((thrown as { code?: string }).code !== 'ENOENT') throw thrown;
    throw new OrreryError('not_found', `The conversation of task ${taskId} is no longer kept.`, {
      rule: 'Conversations are kept for retention.conversationDays days after their task.',
      fix: 'Begin a new one at its result: orrery run --base BRANCH',
    });
  });
  const { files } = kept.parse(JSON.parse((await unpack(packed)).toString('utf8')));
  for (const { path, content } of files) {
    const placed = store.placed({ path, content: Buffer.from(content, 'base64') }, environment.workdir);
    await environment.writeHomeFile(`${store.folder}/${placed.path}`, placed.content);
  }
};

/** Lets go of the one that is kept under a name, if it is. */
export const dropConversation = async (directory: string, taskId: string): Promise<void> => {
  await unlink(fileOf(directory, taskId)).catch((thrown: unknown) => {
    if ((thrown as { code?: string }).code !== 'ENOENT') throw thrown;
  });
};

/** Lets go of those that were kept before an instant for sessions that nobody has made: a node that died meanwhile left them. */
export const dropUnmade = async (
  directory: string,
  { beforeMs, isMade }: { readonly beforeMs: number; isMade(sessionId: string): Promise<boolean> },
): Promise<number> => {
  let gone = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    const id = /^(ses_\w+)\.json\.gz$/.exec(name)?.[1];
    if (id === undefined || (await stat(join(directory, name))).mtimeMs >= beforeMs || (await isMade(id))) continue;
    await dropConversation(directory, id);
    gone++;
  }
  return gone;
};

/** Lets go of conversations whose task ended before an instant. */
export const dropConversations = async (directory: string, beforeMs: number): Promise<void> => {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    if ((await stat(path)).mtimeMs < beforeMs) await unlink(path);
  }
};
