// The node that served this page, and what it was asked.

import { createClient } from '@orrery/client/browser';
import { OrreryError } from '@orrery/protocol/errors';

/** The browser's cookie says who asks. */
export const node = createClient({ url: location.origin, token: null });

/** A request id of this page's own: a click that is sent again is done once. */
export const requestId = (): string => `web_${crypto.randomUUID()}`;

/** What went wrong, in the words of the catalogue. */
export const linesOf = (thrown: unknown): readonly string[] =>
  thrown instanceof OrreryError ? thrown.toLines() : [thrown instanceof Error ? thrown.message : 'Something failed.'];

export const isUnknown = (thrown: unknown): boolean => thrown instanceof OrreryError && thrown.code === 'unauthenticated';
