// A message to a browser by the push service of its maker: encrypted for that browser (RFC 8291), signed by this node (RFC 8292).

import { lookup as systemLookup } from 'node:dns';
import { request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { IncomingMessage } from 'node:http';
import { isPrivateAddress } from '../kernel/host-name.ts';
import { onFailure } from '../kernel/request-failure.ts';
import { publicOnly } from '../kernel/public-only.ts';
import type { Browser, Kept } from './keep.ts';
import { PUSH_CALL_MS, PUSH_REASON_BYTES, PUSH_TTL_S } from './limits.ts';

/** What became of a message. `gone`: the browser takes none any more. */
export type Sent = { readonly state: 'taken' | 'gone' } | { readonly state: 'failed'; readonly reason: string };

/** A message: `topic` replaces an earlier one that was not delivered yet. */
export type PushMessage = { readonly text: string; readonly topic: string };

export type SendPush = (kept: Kept, to: Browser, message: PushMessage) => Promise<Sent>;

/** Of the network: what ends all calls, certificates beside the system's, how names resolve, and whether addresses inside may be written to (tests). */
export type PushNet = {
  readonly stopping?: AbortSignal;
  readonly ca?: Buffer;
  readonly lookup?: LookupFunction;
  readonly inside?: boolean;
};

/** Whom a push service may write to about this node: some take a message only with an address, and none is told of a person. */
const SUBJECT = 'mailto:nobody@orrery.invalid';

export const createPushSender =
  (net: PushNet = {}): SendPush =>
  async ({ publicKey, privateKey }, { endpoint, keys }, { text, topic }) => {
    // Most nodes never push: read when it is first used.
    const { default: webPush } = await import('web-push');
    try {
      const { method, headers, body } = webPush.generateRequestDetails({ endpoint, keys }, text, {
        vapidDetails: { subject: SUBJECT, publicKey, privateKey },
        TTL: PUSH_TTL_S,
        urgency: 'high',
        topic,
        contentEncoding: 'aes128gcm',
      });
      return await answerOf(await post(net, new URL(endpoint), { method, headers: headers as Headers, body }));
    } catch (thrown) {
      return { state: 'failed', reason: (thrown as Error).message.slice(0, PUSH_REASON_BYTES) };
    }
  };

type Headers = Readonly<Record<string, string | number>>;

const post = (
  { stopping, ca, lookup = systemLookup, inside = false }: PushNet,
  url: URL,
  { method, headers, body }: { readonly method: string; readonly headers: Headers; readonly body: Buffer | null },
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (url.protocol !== 'https:') return reject(new Error(`${url.protocol} is not https`));
    if (!inside && isIP(literal) !== 0 && isPrivateAddress(literal))
      return reject(new Error(`${literal} is an address of a private network`));
    const sent = request(
      url,
      {
        ...{ method, headers: { ...headers }, agent: false, lookup: inside ? lookup : publicOnly(lookup) },
        signal: AbortSignal.any([AbortSignal.timeout(PUSH_CALL_MS), ...(stopping === undefined ? [] : [stopping])]),
        ...(ca === undefined ? {} : { ca }),
      },
      resolve,
    );
    onFailure(sent, reject);
    sent.end(body ?? undefined);
  });

/** Redirects are not followed: they are an answer like any other that is not the one that was hoped for. */
const answerOf = async (answer: IncomingMessage): Promise<Sent> => {
  let said = '';
  for await (const chunk of answer) {
    said += String(chunk);
    if (said.length > PUSH_REASON_BYTES) break;
  }
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status < 300) return { state: 'taken' };
  if (status === 404 || status === 410) return { state: 'gone' };
  return { state: 'failed', reason: `the push service answered ${status}: ${said.slice(0, PUSH_REASON_BYTES)}` };
};
