import type Database from 'better-sqlite3';
import { toInstant } from '../../kernel/clock.ts';
import { EVENT_PAGE } from '../../kernel/limits.ts';
import type { FoundWords, SearchQuery, TranscriptQuery, TranscriptRow } from '../store.ts';
import { eventColumns, eventOwners, fromRow, type EventRow } from './event-rows.ts';
import { projectToken, sessionToken } from './sequences.ts';
import { FOUND } from './transcript-words.ts';

/** Words around what was found. */
const SNIPPET_WORDS = 24;
const NEWEST = Number.MAX_SAFE_INTEGER;

/** Reads transcripts: pages from their end, rows folded, and words. */
export const createTranscriptReader = (db: Database.Database) => {
  const key = db.prepare('SELECT key FROM session WHERE id = ?').pluck();
  const back = db.prepare(
    `SELECT ${eventColumns} FROM ${eventOwners} WHERE event.session_key = ? AND event.sequence < ? ORDER BY event.sequence DESC LIMIT ?`,
  );
  const rows = db.prepare(
    `SELECT ${eventColumns}, folded.first AS firstSequence FROM (
       SELECT row_first AS first, max(sequence) AS newest FROM event
       WHERE session_key = ? AND row_first IS NOT NULL AND row_first < ? GROUP BY row_first ORDER BY row_first DESC LIMIT ?
     ) AS folded CROSS JOIN ${eventOwners} WHERE event.session_key = ? AND event.sequence = folded.newest ORDER BY folded.first DESC`,
  );
  const found = db.prepare(
    `SELECT event.seq, event.at, event.sequence, event.turn, event.kind, session.id AS sessionId, session.name AS sessionName,
       session.project_id AS projectId, snippet(session_words, 0, '${FOUND.begin}', '${FOUND.end}', '…', ${SNIPPET_WORDS}) AS snippet
     FROM session_words JOIN event ON event.seq = session_words.rowid JOIN session ON session.key = event.session_key
     WHERE session_words MATCH ? AND session_words.rowid < ? ORDER BY session_words.rowid DESC LIMIT ?`,
  );
  const keyOf = (session: string): number => (key.get(session) as number | undefined) ?? -1;
  const most = (limit: number): number => Math.min(limit, EVENT_PAGE);

  return {
    eventsBefore: ({ session, before, limit }: TranscriptQuery) =>
      (back.all(keyOf(session), before ?? NEWEST, most(limit)) as EventRow[]).map(fromRow).toReversed(),
    transcriptRows: ({ session, before, limit }: TranscriptQuery): TranscriptRow[] => {
      const own = keyOf(session);
      return (rows.all(own, before ?? NEWEST, most(limit), own) as (EventRow & { firstSequence: number })[])
        .map((row) => ({ firstSequence: row.firstSequence, event: fromRow(row) }))
        .toReversed();
    },
    searchWords: ({ terms, session, project, before, limit }: SearchQuery): FoundWords[] => {
      const scopes = [
        ...(session === null ? [] : [sessionToken(keyOf(session))]),
        ...(project === null ? [] : [projectToken(project)]),
      ];
      const match = [...scopes.map((scope) => `scope : ${quoted(scope)}`), `words : (${terms.map(termText).join(' AND ')})`];
      type Row = Omit<FoundWords, 'at'> & { at: number };
      return (found.all(match.join(' AND '), before ?? NEWEST, most(limit)) as Row[]).map((row) => ({
        ...row,
        at: toInstant(row.at),
      }));
    },
  };
};

/** A string of the query language: nothing in it is an operator. */
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const termText = ({ text, prefix }: SearchQuery['terms'][number]): string => `${quoted(text)}${prefix ? ' *' : ''}`;
