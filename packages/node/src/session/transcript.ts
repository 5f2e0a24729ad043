// Reading what was said: pages of the log and of its rows, and words in all sessions.

import {
  OrreryError,
  type AnswerOf,
  type AttachmentPart,
  type DetailPage,
  type OperationCall,
  type SearchHit,
} from '@orrery/protocol';
import { SEARCH_CHARS, SEARCH_TERMS } from '../kernel/limits.ts';
import type { FoundWords, SearchQuery, Store } from '../store/store.ts';
import { readAttachment } from './attachment-part.ts';
import { readDetail } from './details.ts';
import { FORK_HOPS } from './limits.ts';
import type { SessionParts } from './doors.ts';
import { forkedFrom, type SessionRow } from './model.ts';
import { findSession, newestSequence } from './store.ts';

type DetailPart = { readonly locator: string; readonly offset: number; readonly limit: number };
type LogQuery = OperationCall<'sessionLog'>['query'];

/** Use cases of transcripts; they change nothing. */
export type Transcripts = {
  log(reference: string, query: LogQuery): Promise<AnswerOf<'sessionLog'>>;
  rows(reference: string, query: OperationCall<'sessionRows'>['query']): Promise<AnswerOf<'sessionRows'>>;
  detail(reference: string, part: DetailPart): Promise<DetailPage>;
  attachment(
    reference: string,
    part: { readonly id: string; readonly offset: number; readonly limit: number },
  ): Promise<AttachmentPart>;
  search(query: OperationCall<'sessionSearch'>['query']): Promise<AnswerOf<'sessionSearch'>>;
};

export const createTranscripts = (
  { store, resolveProject, attachments }: Pick<SessionParts, 'store' | 'resolveProject' | 'attachments'>,
  find: (reference: string) => Promise<SessionRow>,
): Transcripts => ({
  log: async (reference, { after, before, limit }) => {
    const { id } = await find(reference);
    if (before === undefined) {
      const items = await store.ownEvents({ owner: id, after: after ?? 0, limit });
      const last = items.length === limit ? items.at(-1) : undefined;
      return { items: [...items], nextCursor: last?.sequence == null ? null : String(last.sequence), seq: store.seq() };
    }
    if (after !== undefined)
      throw new OrreryError('invalid_input', 'A page begins after a sequence or ends before one, not both.', {
        rule: 'Give `after` or `before`.',
      });
    const items = await store.eventsBefore({ session: id, before, limit });
    const first = items[0]?.sequence ?? 1;
    return { items: [...items], nextCursor: first > 1 ? String(first) : null, seq: store.seq() };
  },
  rows: async (reference, { before, limit }) => {
    const { id, key } = await find(reference);
    // Read first: a row that changes meanwhile is read again by whoever follows from here.
    const sequence = await newestSequence(store.read, key);
    const items = await store.transcriptRows({ session: id, before: before ?? null, limit });
    const first = items[0]?.firstSequence ?? 1;
    return { items: [...items], nextCursor: first > 1 ? String(first) : null, sequence, seq: store.seq() };
  },
  detail: async (reference, part) => detailOf(store, await find(reference), part),
  attachment: async (reference, part) => readAttachment({ store, attachments }, await find(reference), part),
  search: async ({ q, session, project, limit, cursor }) => {
    const terms = searchTerms(q);
    const found = await store.searchWords({
      terms,
      session: session === undefined ? null : (await find(session)).id,
      project: project === undefined ? null : (await resolveProject(project)).id,
      before: cursor === undefined ? null : cursorOf(cursor),
      limit,
    });
    const last = found.length === limit ? found.at(-1) : undefined;
    return { items: found.map(toHit), nextCursor: last === undefined ? null : String(last.seq), seq: store.seq() };
  },
});

/** Of what a fork tells again, the large texts are where they were said. */
const detailOf = async (store: Store, session: SessionRow, part: DetailPart): Promise<DetailPage> => {
  let at: SessionRow | null = session;
  for (let hops = 0; at !== null && hops <= FORK_HOPS; hops++) {
    const page = await readDetail(store.read, { sessionId: at.id, ...part });
    if (page.state !== 'missing') return page;
    const from = forkedFrom(at);
    at = from === null ? null : await findSession(store.read, from);
  }
  return { state: 'missing' };
};

const cursorOf = (cursor: string): number => {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new OrreryError('invalid_input', 'This cursor is of no search.', {
    rule: 'A cursor is the nextCursor of a page before.',
  });
};

/**
 * The words and phrases of a query: words, "phrases in quotes", and word* for beginnings. Everything else stands for itself.
 * @throws OrreryError invalid_input for a query that is too long or without a word
 */
export const searchTerms = (query: string): SearchQuery['terms'] => {
  const terms = [...query.matchAll(/"([^"]*)"?|([^\s"]+)/g)]
    .map(([, phrase, word]) =>
      word === undefined ? { text: phrase ?? '', prefix: false } : { text: word.replace(/\*+$/, ''), prefix: word.endsWith('*') },
    )
    .map(({ text, prefix }) => ({ text: text.replaceAll('\u0000', ' ').toWellFormed(), prefix }))
    .filter(({ text }) => /[\p{L}\p{N}]/u.test(text));
  if (query.length > SEARCH_CHARS || terms.length > SEARCH_TERMS)
    throw new OrreryError('input_too_large', 'That is too much to search for at once.', {
      rule: `A search has at most ${SEARCH_TERMS} words and phrases and ${SEARCH_CHARS} characters.`,
      fix: 'Leave words out: orrery session search "fewer words"',
    });
  if (terms.length === 0)
    throw new OrreryError('invalid_input', 'There is no word to search for.', {
      rule: 'A search is words; "words in quotes" stand together, and word* finds what begins so.',
      fix: 'orrery session search "failing test"',
    });
  return terms;
};

const toHit = ({ seq, at, sequence, turn, kind, sessionId, sessionName, projectId, snippet }: FoundWords): SearchHit => ({
  seq,
  at,
  session: { id: sessionId, name: sessionName },
  projectId,
  sequence,
  turn,
  kind: kind as SearchHit['kind'],
  snippet: snippet
    .split(/(\u0001[^\u0002]*\u0002?)/)
    .filter((text) => text !== '')
    .map((text) => ({ text: text.replace(/[\u0001\u0002]/g, ''), found: text.startsWith('\u0001') })),
});
