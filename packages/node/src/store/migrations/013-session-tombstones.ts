import type { Migration } from './migration.ts';

const sql = `
DROP INDEX session_tombstone_request;
CREATE INDEX session_tombstone_request ON session_tombstone (request_id, kind);
`;

/** A request of a session that was deleted is found by itself, whichever session it was. */
export const sessionTombstones: Migration = { number: 13, name: 'session-tombstones', sql };
