// Previews: programs of environments in a browser. A door of its own, with a listener of its own, so that no page in it has
// the origin of the node's API or of another preview.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Caller, OperationHandlers, PreviewLink } from '@orrery/protocol';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { appendAudit } from '../audit/index.ts';
import type { Forwarding, OpenPlaces } from '../environment/index.ts';
import { toInstant, type Clock } from '../kernel/clock.ts';
import { errorFields, type Log } from '../kernel/log.ts';
import type { Random } from '../kernel/random.ts';
import type { Store } from '../store/store.ts';
import { createAccess } from './access.ts';
import { nameOfHost, previewHost, previewName, previewOf } from './address.ts';
import { secretOf } from './headers.ts';
import { PREVIEW_BROWSER_MS, PREVIEW_REQUESTS, PREVIEW_SOCKETS, PREVIEWS } from './limits.ts';
import { listenForPreviews, type PreviewListener } from './listener.ts';
import { entered, foreignPage, letIn, malformed, noPreview, unreachable, type Page } from './pages.ts';
import { endWhenIdle, passRequest, passUpgrade, showPage, showPageOn, type Passing } from './pass.ts';
import { createReach, type Reach } from './reach.ts';

export type PreviewParts = {
  readonly places: Pick<OpenPlaces, 'find'>;
  readonly forwarding: Forwarding;
  readonly store: Pick<Store, 'transaction'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Random;
  readonly log: Log;
  /** 0: any that is free. */
  readonly port: () => number;
  /** Whether any other port will do when that one is taken. */
  readonly anyPort: () => boolean;
};

export type Previews = {
  readonly handlers: Pick<OperationHandlers, 'previewOpen'>;
  close(): Promise<void>;
};

/** The one path of a preview that is not the program's. */
const LINK_PATH = '/.orrery/preview';

/** A preview that somebody looks at. */
type Live = { readonly reach: Reach; requests: number; sockets: number };

/** Makes it. Nothing listens before the first preview is opened. */
export const createPreviews = (parts: PreviewParts): Previews => {
  const { places, forwarding, clock, log } = parts;
  const access = createAccess(parts);
  const live = new Map<string, Live>();
  let listening: Promise<PreviewListener> | null = null;

  const liveOf = (name: string): Live => {
    const known = live.get(name);
    if (known !== undefined) return known;
    // Those that nobody uses now have no connections.
    if (live.size >= PREVIEWS)
      for (const [other, { requests, sockets }] of live) if (requests + sockets === 0) live.delete(other);
    const { environmentId, port } = previewOf(name) ?? { environmentId: '', port: 0 };
    const fresh: Live = { reach: createReach(() => forwarding.open(environmentId, port)), requests: 0, sockets: 0 };
    live.set(name, fresh);
    return fresh;
  };

  const listener = (): Promise<PreviewListener> => {
    listening ??= listenForPreviews({ port: parts.port(), any: parts.anyPort(), take, upgrade }).catch((thrown: unknown) => {
      listening = null;
      throw thrown;
    });
    return listening;
  };

  /** The preview a request is for, or the page that answers it. */
  const enter = (request: IncomingMessage, port: number): { readonly name: string; readonly passing: Passing } | Page => {
    const name = nameOfHost(request.headers.host, port);
    if (name === null) return noPreview;
    const { url = '/', headers } = request;
    if (!url.startsWith('/')) return malformed;
    const origin = `http://${previewHost(name, port)}`;
    if (headers.origin !== undefined && headers.origin !== origin) return foreignPage;
    if (url.split('?', 1)[0] === LINK_PATH) return byLink(request, { name, origin });
    const secret = secretOf(headers.cookie);
    if (secret === null || !access.holds(name, secret)) return letIn(name);
    if (isForeign(request)) return foreignPage;
    return { name, passing: { reach: liveOf(name).reach, sides: { origin, port: previewOf(name)?.port ?? 0 } } };
  };

  const byLink = (request: IncomingMessage, { name, origin }: { readonly name: string; readonly origin: string }): Page => {
    // What only looks ahead must not use a link up.
    const looksAhead = request.method !== 'GET' || /prefetch|preview/i.test(String(request.headers['sec-purpose'] ?? ''));
    const key = new URL(request.url ?? '/', origin).searchParams.get('key');
    const secret = looksAhead || key === null ? null : access.enter(name, key);
    if (secret !== null) return entered(secret, PREVIEW_BROWSER_MS);
    const held = secretOf(request.headers.cookie);
    return held !== null && access.holds(name, held) ? entered(null, 0) : letIn(name);
  };

  const take = (request: IncomingMessage, response: ServerResponse, port: number): void => {
    const found = tried(() => enter(request, port));
    if (!('passing' in found)) return showPage(found, request, response);
    const one = liveOf(found.name);
    if (one.requests >= PREVIEW_REQUESTS) return showPage(unreachable(tooMany('requests', PREVIEW_REQUESTS)), request, response);
    one.requests += 1;
    void passRequest(request, response, found.passing).finally(() => {
      one.requests -= 1;
    });
  };

  const upgrade = (request: IncomingMessage, { socket, head }: { socket: Duplex; head: Buffer }, port: number): void => {
    const found = tried(() => enter(request, port));
    if (!('passing' in found)) return showPageOn(found, request, socket);
    const one = liveOf(found.name);
    if ((request.headers.upgrade ?? '').toLowerCase() !== 'websocket') return showPageOn(malformed, request, socket);
    if (one.sockets >= PREVIEW_SOCKETS) return showPageOn(unreachable(tooMany('WebSockets', PREVIEW_SOCKETS)), request, socket);
    one.sockets += 1;
    endWhenIdle(request);
    passUpgrade(request, { socket, head }, found.passing)
      .catch((thrown: unknown) => showPageOn(unreachable(toOrreryError(thrown)), request, socket))
      .finally(() => {
        one.sockets -= 1;
      });
  };

  /** A page for what is thrown: an error of ours is told, any other only logged. */
  const tried = <Found>(enterIt: () => Found): Found | Page => {
    try {
      return enterIt();
    } catch (thrown) {
      if (toOrreryError(thrown).code === 'internal') log.error('preview.failed', errorFields(thrown));
      return unreachable(toOrreryError(thrown));
    }
  };

  const open = async (reference: string, given: { readonly port: number; readonly caller: Caller }): Promise<PreviewLink> => {
    const { environmentId } = await places.find(reference);
    const { port, caller } = given;
    const problem = await whyUnreached(() => forwarding.open(environmentId, port));
    const name = previewName({ environmentId, port });
    const origin = `http://${previewHost(name, (await listener()).port)}`;
    const { key, untilMs } = access.link(name);
    const record = {
      actor: `token:${caller.name}`,
      action: 'preview.open',
      subject: environmentId,
      outcome: 'done',
      detail: { port },
    } as const;
    await parts.store.transaction((tx) => appendAudit(tx.db, record, clock.nowMs()));
    return { environmentId, port, origin, link: `${origin}${LINK_PATH}?key=${key}`, linkUntil: toInstant(untilMs), problem };
  };

  return {
    handlers: { previewOpen: ({ params, caller }) => open(params.id, { port: params.port, caller }) },
    async close() {
      for (const { reach } of live.values()) reach.close();
      await (await listening?.catch(() => null))?.close();
    },
  };
};

/** What a browser says of a request that another site made it send. Pages of that site may be visited by a link; nothing else. */
const isForeign = ({ headers }: IncomingMessage): boolean => {
  const site = headers['sec-fetch-site'];
  return (site === 'cross-site' || site === 'same-site') && headers['sec-fetch-dest'] !== 'document';
};

/** Why nothing listens there yet, null when something does; what will not change by waiting is thrown. */
const whyUnreached = async (connect: () => Promise<Duplex>): Promise<string | null> => {
  try {
    (await connect()).destroy();
    return null;
  } catch (thrown) {
    const error = toOrreryError(thrown);
    if (error.code === 'not_found' && error.details?.['port'] !== undefined) return error.message;
    throw error;
  }
};

const tooMany = (what: string, most: number): OrreryError =>
  new OrreryError('limit_reached', `This preview has ${most} ${what} open.`, {
    rule: 'What a preview does at once is bounded.',
    fix: 'Close some of its pages, then reload this one.',
  });
