// Reading an attachment back, part by part: a page shows an image, whoever asks gets what was given.

import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { AttachmentPart } from '@orrery/protocol';
import type { AttachmentRow } from './attachments.ts';
import { attachmentsOf } from './attachment-store.ts';
import type { SessionParts } from './doors.ts';
import { FORK_HOPS } from './limits.ts';
import { forkedFrom, type SessionRow } from './model.ts';
import { findSession } from './store.ts';

type Parts = Pick<SessionParts, 'store' | 'attachments'>;

/** Of one attachment of the session, or of one it was forked from; bytes that are gone are missing. */
export const readAttachment = async (
  parts: Parts,
  session: SessionRow,
  { id, offset, limit }: { readonly id: string; readonly offset: number; readonly limit: number },
): Promise<AttachmentPart> => {
  const row = await rowOf(parts, session, id);
  const file = row === null ? null : await open(join(parts.attachments, row.id), 'r').catch(() => null);
  if (row === null || file === null) return { state: 'missing' };
  try {
    const bytes = await partOf(file, offset, Math.min(limit, Math.max(0, row.bytes - offset)));
    const next = offset + bytes.length;
    return {
      state: 'here',
      mediaType: row.media_type,
      bytes: row.bytes,
      offset,
      base64: bytes.toString('base64'),
      nextOffset: next < row.bytes && bytes.length > 0 ? next : null,
    };
  } finally {
    await file.close();
  }
};

const partOf = async (file: FileHandle, offset: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
};

/** What a fork tells again names files of the session it came from. */
const rowOf = async ({ store }: Pick<Parts, 'store'>, session: SessionRow, id: string): Promise<AttachmentRow | null> => {
  let at: SessionRow | null = session;
  for (let hops = 0; at !== null && hops <= FORK_HOPS; hops++) {
    const found = (await attachmentsOf(store.read, at.id)).find((row) => row.id === id);
    if (found !== undefined) return found;
    const from = forkedFrom(at);
    at = from === null ? null : await findSession(store.read, from);
  }
  return null;
};
