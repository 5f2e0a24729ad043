import type { OperationHandlers } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { toInstant } from '../kernel/clock.ts';
import type { Store } from '../store/store.ts';
import { listAudit } from './records.ts';

/** Handlers of the audit's operations. */
export const auditHandlers = (store: Store): Pick<OperationHandlers, 'auditList'> => ({
  auditList: async ({ query }) => {
    const { limit, cursor, action = null, actor = null, outcome = null } = query;
    const before = cursor === undefined ? null : Number(cursor);
    if (before !== null && !Number.isSafeInteger(before))
      throw new OrreryError('invalid_input', 'That is no cursor of this list.', {
        rule: 'A cursor is what the page before answered as nextCursor.',
        fix: 'Leave it out: the first page comes.',
      });
    const rows = await listAudit(store.read, { limit, before, action, actor, outcome });
    return {
      items: rows.map(({ at, detail = {}, ...row }) => ({ ...row, at: toInstant(at), detail })),
      nextCursor: rows.length === limit ? String(rows.at(-1)?.id) : null,
      seq: store.seq(),
    };
  },
});
