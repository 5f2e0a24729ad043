import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import { failureOfAnswer, failureOfTransport } from './failure.ts';
import { TransportFailure } from './transport.ts';

/** A connection to ask for. */
export type UpgradeRequest = {
  /** Of the node, `http://127.0.0.1:4747`. */
  readonly origin: string;
  readonly token: string | null;
  /** Below `/api/v1`. */
  readonly path: string;
  /** What the header `Upgrade` says. */
  readonly protocol: string;
  readonly signal?: AbortSignal;
};

/** Opens a connection that stops being HTTP. Each side may end alone. @throws OrreryError what the node refuses it with */
export const openUpgrade = ({ origin, token, path, protocol, signal }: UpgradeRequest): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const url = new URL(`${origin}/api/v1${path}`);
    const headers = {
      connection: 'Upgrade',
      upgrade: protocol,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    };
    const fail = (thrown: unknown): void => reject(failureOfTransport(thrown, false));
    const outgoing = send(url, headers, signal);
    outgoing.once('upgrade', (_answer, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    outgoing.once('response', (answer) => {
      textOf(answer).then((text) => reject(failureOfAnswer(answer.statusCode ?? 0, parsed(text))), fail);
    });
    outgoing.once('error', (thrown) =>
      fail(
        signal?.aborted === true && signal.reason instanceof OrreryError
          ? signal.reason
          : new TransportFailure('The connection failed.', { sent: false, cause: thrown }),
      ),
    );
    outgoing.end();
  });

const send = (url: URL, headers: Record<string, string>, signal: AbortSignal | undefined): ClientRequest => {
  const options = { method: 'GET', headers, signal, agent: false as const };
  if (url.protocol === 'https:') return process.getBuiltinModule('node:https').request(url, options);
  const { connect } = process.getBuiltinModule('node:net');
  const createConnection = () =>
    connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port === '' ? 80 : url.port), allowHalfOpen: true });
  return process.getBuiltinModule('node:http').request(url, { ...options, createConnection });
};

/** An error envelope is short; of anything longer the beginning is enough to know that it is none. */
const ANSWER_CHARS = 64 * 1024;

const textOf = async (answer: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > ANSWER_CHARS) break;
  }
  return text;
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
