import type { IncomingMessage } from 'node:http';
import type { AuditRecord } from '../audit/index.ts';
import { runTokenOf } from './headers.ts';
import type { TokenIdentity } from './model.ts';
import type { RunTokens } from './run-tokens.ts';

type Asking = {
  readonly tokens: Pick<RunTokens, 'find'>;
  readonly audit: (record: AuditRecord) => void;
};

type Call = Pick<AuditRecord, 'action' | 'subject'> & {
  /** Says no to the program. */
  readonly refuse: (message: string) => void;
};

/** Whose run a request is of; null: nobody's, which is on record and was said. */
export const runCaller = async (
  { tokens, audit }: Asking,
  request: IncomingMessage,
  { action, subject, refuse }: Call,
): Promise<TokenIdentity | null> => {
  const token = runTokenOf(request.headers);
  const found = token === null ? null : await tokens.find(token, 'run');
  if (found?.state === 'live') return found.identity;
  const reason = token === null ? 'no token' : found?.state === 'ended' ? 'ended token' : 'unknown token';
  const actor = found?.state === 'ended' ? `task:${found.identity.taskId}` : 'unknown';
  audit({ actor, action, subject, outcome: 'refused', detail: { reason } });
  refuse(found?.state === 'ended' ? 'The run token has ended with its environment.' : 'No valid run token was given.');
  return null;
};
