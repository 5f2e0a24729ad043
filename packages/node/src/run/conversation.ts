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

/** Plain files of a conversation in a home whose programs have ended. Rejects with `input_too_large` beyond its bounds. */
const filesOf = async (home: string, store: ConversationStore, conversation: string): Promise<ConversationFile[]> => {
  const root = folderIn(home, store.folder);
  if (root === null) return [];
  const files: ConversationFile[] = [];
  let bytes = 0;
  for (const { path: name, type } of await walkTree(root)) {
    const path = showBytes(name);
    if (type !== 'file' || !store.holds(path, conversation)) continue;
    bytes += lookAt(absoluteBytes(root, name))?.size ?? 0;
    if (bytes > CONVERSATION_BYTES || files.length >= CONVERSATION_ENTRIES)
      throw new OrreryError('input_too_large', 'The conversation is too large to be kept.', {
        rule: `At most ${CONVERSATION_BYTES} bytes in ${CONVERSATION_ENTRIES} files of one conversation are kept after its task.`,
      });
    files.push({ path, content: await readFile(absoluteBytes(root, name)) });
  }
  return files;
};

/**
 * Keeps the conversation of a task whose programs have ended, in the place of an earlier one; null when it is kept, else
 * why not, in words. Repeatable. Nothing that a program left there can fail the task.
 */
export const keepConversation = async (
  directory: string,
  of: { readonly taskId: string; readonly home: string; readonly store: ConversationStore; readonly conversation: string },
): Promise<string | null> => {
  const { taskId } = of;
  try {
    const files = await filesOf(of.home, of.store, of.conversation);
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

/** Lets go of conversations whose task ended before an instant. */
export const dropConversations = async (directory: string, beforeMs: number): Promise<void> => {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    if ((await stat(path)).mtimeMs < beforeMs) await unlink(path);
  }
};
