// Texts that are too large for their events, kept beside the log in the same transaction, by what they hold.

import { createHash } from 'node:crypto';
import type { DetailPage, EventBody, ToolPicture } from '@orrery/protocol';
import type { Kysely } from 'kysely';
import { base64Of } from '../harness/pictures.ts';
import { DETAIL_BYTES, DETAIL_PIECE_BYTES, SESSION_DETAIL_BYTES } from '../kernel/limits.ts';
import type { Tx } from '../store/store.ts';
import type { Tables } from '../store/tables.ts';

/** Where a text is found again, how long it was, and how much of it is kept. */
export type KeptDetail = { readonly locator: string | null; readonly bytes: number; readonly keptBytes: number };

/** Keeps a text of a session; the same text is kept once. */
export const keepDetail = async ({ db }: Tx, sessionId: string, text: string): Promise<KeptDetail> => {
  const whole = Buffer.from(text);
  const kept = whole.subarray(0, backToCharacter(whole, DETAIL_BYTES));
  const locator = createHash('sha256').update(kept).digest('hex');
  const found = { locator, bytes: whole.length, keptBytes: kept.length };
  const of = db.selectFrom('session_detail').select('position').where('session_id', '=', sessionId);
  if ((await of.where('locator', '=', locator).limit(1).executeTakeFirst()) !== undefined) return found;
  const session = await db.selectFrom('session').select('detail_bytes').where('id', '=', sessionId).executeTakeFirst();
  const bytes = (session?.detail_bytes ?? 0) + kept.length;
  if (bytes > SESSION_DETAIL_BYTES) return { locator: null, bytes: whole.length, keptBytes: 0 };
  for (let position = 0; position < kept.length; position += DETAIL_PIECE_BYTES) {
    const piece = kept.subarray(position, position + DETAIL_PIECE_BYTES);
    await db.insertInto('session_detail').values({ session_id: sessionId, locator, position, piece }).execute();
  }
  await db.updateTable('session').set({ detail_bytes: bytes }).where('id', '=', sessionId).execute();
  return found;
};

/** A result whose pictures are kept beside the log; one that has no room is said to be there. */
export const withPicturesKept = async <Body extends EventBody>(tx: Tx, sessionId: string, body: Body): Promise<Body> => {
  if (body.kind !== 'tool.result' || body.pictures === undefined) return body;
  const pictures: ToolPicture[] = [];
  for (const picture of body.pictures) {
    const base64 = base64Of(picture);
    const kept = base64 === null ? null : await keepDetail(tx, sessionId, base64);
    pictures.push({ ...picture, locator: kept !== null && kept.keptBytes === kept.bytes ? kept.locator : null });
  }
  return { ...body, pictures };
};

/** A part of a text that is kept. */
export const readDetail = async (
  db: Kysely<Tables>,
  {
    sessionId,
    locator,
    offset,
    limit,
  }: { readonly sessionId: string; readonly locator: string; readonly offset: number; readonly limit: number },
): Promise<DetailPage> => {
  const of = db.selectFrom('session_detail').where('session_id', '=', sessionId).where('locator', '=', locator);
  const last = await of.select(['position', 'piece']).orderBy('position', 'desc').limit(1).executeTakeFirst();
  if (last === undefined) return { state: 'missing' };
  const keptBytes = last.position + last.piece.length;
  const first = Math.floor(offset / DETAIL_PIECE_BYTES) * DETAIL_PIECE_BYTES;
  const pieces = await of
    .select('piece')
    .where('position', '>=', first)
    // One character more, to see where the last one ends.
    .where('position', '<', offset + limit + 4)
    .orderBy('position')
    .execute();
  const bytes = Buffer.concat(pieces.map(({ piece }) => piece));
  const from = forwardToCharacter(bytes, Math.min(offset - first, bytes.length));
  const to = first + from + limit >= keptBytes ? bytes.length : backToCharacter(bytes, from + limit);
  const next = first + to;
  return {
    state: 'here',
    offset: Math.min(first + from, keptBytes),
    text: bytes.toString('utf8', from, to),
    nextOffset: next < keptBytes && to > from ? next : null,
    keptBytes,
  };
};

const isInside = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** The last place at or before `at` where a character begins. */
const backToCharacter = (bytes: Buffer, at: number): number => {
  if (at >= bytes.length) return bytes.length;
  let place = at;
  while (place > 0 && isInside(bytes[place])) place--;
  return place;
};

const forwardToCharacter = (bytes: Buffer, at: number): number => {
  let place = at;
  while (isInside(bytes[place])) place++;
  return place;
};

/** The beginning and the end of a text, within so many bytes, with what was left out between them. */
export const bothEnds = (text: string, limit: number): string => {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  const head = backToCharacter(bytes, Math.floor((limit * 3) / 4));
  const tail = forwardToCharacter(bytes, bytes.length - Math.floor(limit / 4));
  return `${bytes.toString('utf8', 0, head)}\n[… ${tail - head} of ${bytes.length} bytes are left out here …]\n${bytes.toString('utf8', tail)}`;
};

/** An event whose text is too large has its ends, and where the whole is. */
export const apart = async <Body extends EventBody>(
  tx: Tx,
  sessionId: string,
  {
    body,
    large,
  }: {
    readonly body: Body;
    readonly large: { readonly text: string; readonly limit: number; readonly with: (text: string) => Body } | null;
  },
): Promise<Body> => {
  if (large === null || large.text.length * 3 <= large.limit || Buffer.byteLength(large.text) <= large.limit) return body;
  const detail = await keepDetail(tx, sessionId, large.text);
  return { ...large.with(bothEnds(large.text, large.limit)), detail };
};
