// Glossary. An attachment is a file that was given to a session before an input names it. Its bytes stand in one file of
// their own, whole and synced before the row that names them; a file without a row is nobody's and goes.

import { createHash } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError, type AttachmentFacts, type AttachmentView } from '@orrery/protocol';
import type { Selectable } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import { syncDirectory } from '../kernel/durable-file.ts';
import {
  ATTACHMENT_FILE_BYTES,
  ATTACHMENT_IMAGE_BYTES,
  ATTACHMENT_SESSION_BYTES,
  ATTACHMENTS_PER_SESSION,
} from '../kernel/attachment-limits.ts';
import { RETENTION_MS } from '../kernel/limits.ts';
import type { AttachmentTable } from '../store/session-tables.ts';
import type { SessionParts } from './doors.ts';
import { isImage, mediaTypeOf, SNIFFED_BYTES } from './media-type.ts';
import { otherIntent, whyClosed, type SessionRow } from './model.ts';
import { attachmentByRequest, attachmentsOf, everyAttachment, insertAttachment } from './attachment-store.ts';

export type AttachmentRow = Selectable<AttachmentTable>;

type Parts = Pick<SessionParts, 'store' | 'clock' | 'ids' | 'attachments' | 'checkRoom'>;

/** An attachment as clients see it. */
export const toAttachment = (row: AttachmentRow, replayed: boolean): AttachmentView => ({
  ...factsOf(row),
  sha256: row.sha256,
  createdAt: toInstant(row.created_at),
  replayed,
});

/** As an input names it. */
export const factsOf = ({ id, name, media_type: mediaType, bytes }: AttachmentRow): AttachmentFacts => ({
  id,
  name,
  mediaType,
  bytes,
});

/** Takes a file in: its bytes first, then its row. The same request with the same bytes gets the same one. */
export const takeAttachment = async (
  parts: Parts,
  session: SessionRow,
  given: { readonly name: string; readonly requestId: string; readonly body: AsyncIterable<Uint8Array> },
): Promise<AttachmentView> => {
  const closed = whyClosed(session);
  if (closed !== null) throw closed;
  parts.checkRoom();
  const id = parts.ids('attachment');
  await mkdir(parts.attachments, { recursive: true, mode: 0o700 });
  const path = join(parts.attachments, id);
  const taken = await takeBytes(`${path}.part`, given.body);
  try {
    await rename(`${path}.part`, path);
    await syncDirectory(parts.attachments);
    return await record(parts, session, { id, ...given, ...taken });
  } catch (thrown) {
    await discard(path);
    throw thrown;
  }
};

type Taken = { readonly bytes: number; readonly sha256: string; readonly mediaType: string };

const record = async (
  parts: Parts,
  { id: sessionId, name: sessionName }: SessionRow,
  {
    id,
    name,
    requestId,
    bytes,
    sha256,
    mediaType,
  }: Taken & { readonly id: string; readonly name: string; readonly requestId: string },
): Promise<AttachmentView> => {
  const row = {
    ...{ id, session_id: sessionId, request_id: requestId, name: safeFileName(name), media_type: mediaType },
    ...{ bytes, sha256, created_at: parts.clock.nowMs() },
  };
  const kept = await parts.store.transaction(async (tx) => {
    const known = await attachmentByRequest(tx.db, sessionId, requestId);
    if (known !== null) {
      if (known.sha256 !== sha256 || known.name !== row.name) throw otherIntent(requestId, 'attachment');
      return known;
    }
    checkSpace(sessionName, await attachmentsOf(tx.db, sessionId), bytes);
    await insertAttachment(tx.db, row);
    return row;
  });
  if (kept.id !== id) await discard(join(parts.attachments, id));
  return toAttachment(kept, kept.id !== id);
};

/** Writes a file as it comes, within its bounds, and syncs it. Nothing of it stays when it is refused. */
const takeBytes = async (path: string, body: AsyncIterable<Uint8Array>): Promise<Taken> => {
  const handle = await open(path, 'wx', 0o600);
  try {
    const taken = await pour(handle, body);
    await handle.sync();
    return taken;
  } catch (thrown) {
    await discard(path);
    throw thrown;
  } finally {
    await handle.close();
  }
};

const pour = async (handle: FileHandle, body: AsyncIterable<Uint8Array>): Promise<Taken> => {
  const hash = createHash('sha256');
  let beginning = new Uint8Array(0);
  let bytes = 0;
  for await (const chunk of body) {
    if (beginning.length < SNIFFED_BYTES)
      beginning = Buffer.concat([beginning, chunk.subarray(0, SNIFFED_BYTES - beginning.length)]);
    bytes += chunk.length;
    checkSize(bytes, mediaTypeOf(beginning));
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  if (bytes === 0) throw new OrreryError('empty_input', 'The file is empty.', { rule: 'An attachment has at least one byte.' });
  return { bytes, sha256: hash.digest('hex'), mediaType: mediaTypeOf(beginning) };
};

const checkSize = (bytes: number, mediaType: string): void => {
  const limitBytes = isImage(mediaType) ? ATTACHMENT_IMAGE_BYTES : ATTACHMENT_FILE_BYTES;
  if (bytes <= limitBytes) return;
  const what = isImage(mediaType) ? 'image' : 'file';
  throw new OrreryError('input_too_large', `The ${what} is too large to be attached.`, {
    rule: `An ${what === 'image' ? 'image' : 'attached file'} has at most ${limitBytes} bytes; nothing of it was kept.`,
    fix:
      what === 'image'
        ? 'Make it smaller; models shrink large images anyway.'
        : 'Put it into the environment: orrery env shell ENV',
    details: { limitBytes },
  });
};

const checkSpace = (name: string, rows: readonly AttachmentRow[], more: number): void => {
  const bytes = rows.reduce((sum, row) => sum + row.bytes, more);
  if (rows.length < ATTACHMENTS_PER_SESSION && bytes <= ATTACHMENT_SESSION_BYTES) return;
  throw new OrreryError('limit_reached', `The session ${name} has as many attachments as it may have.`, {
    rule: `At most ${ATTACHMENTS_PER_SESSION} files and ${ATTACHMENT_SESSION_BYTES} bytes for one session.`,
    fix: 'orrery session start',
  });
};

/** A name that is one part of a path, on any system. */
const safeFileName = (name: string): string => {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  // eslint-disable-next-line no-control-regex -- control signs are what is taken out
  const plain = last
    .replaceAll(/[\u0000-\u001f\u007f]/g, '')
    .replace(/^\.+/, '')
    .slice(0, 100)
    .trim();
  return plain === '' ? 'file' : plain;
};

const discard = (path: string): Promise<void> => unlink(path).catch(() => undefined);

/** The bytes of an attachment. Rejects when they are gone. */
export const attachmentBytes = (directory: string, id: string): Promise<Uint8Array> => readFile(join(directory, id));

/** Removes files that no row names: those of sessions that were deleted, and what a crash left of an upload. */
export const sweepAttachments = async ({
  store,
  attachments,
  clock,
}: Pick<Parts, 'store' | 'attachments' | 'clock'>): Promise<number> => {
  const files = await readdir(attachments).catch(() => [] as string[]);
  const named = new Set(await everyAttachment(store.read));
  let removed = 0;
  for (const name of files.filter((one) => !named.has(one))) {
    const path = join(attachments, name);
    const changed = await stat(path).catch(() => null);
    // An upload that is under way has no row yet; none takes so long.
    if (changed === null || clock.nowMs() - changed.mtimeMs < RETENTION_MS) continue;
    await discard(path);
    removed += 1;
  }
  return removed;
};
