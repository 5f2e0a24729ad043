// One request to a code host, over https (http to this machine alone). The token is a header of this process: no child of
// the node has it, and it goes to no other address, since nothing is followed.
import { createReadStream } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { onFailure } from '../kernel/request-failure.ts';

/** What is sent: a text, or a beginning and a file behind it. */
export type HostBody = string | { readonly beginning: string; readonly file: string; readonly fileBytes: number };

export type HostRequest = {
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: HostBody;
  /** The whole of it. */
  readonly timeoutMs: number;
  /** How long nothing may move. */
  readonly silenceMs?: number;
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
};

export type HostAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

const lengthOf = (body: HostBody): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : Buffer.byteLength(body.beginning) + body.fileBytes;

/** Makes one request and reads its answer. Rejects with a plain error when there is none within the bounds. */
export const hostRequest = (asked: HostRequest): Promise<HostAnswer> => {
  const { url, method, headers, body, timeoutMs, silenceMs = timeoutMs, maxBytes } = asked;
  const ended = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(asked.signal === undefined ? [] : [asked.signal])]);
  return new Promise((resolve, fail) => {
    let silent: Error | null = null;
    // Within an answer the system only says that it was cut, and not why.
    const reject = (thrown: unknown): void => fail(silent ?? whyEnded(thrown, ended, timeoutMs));
    const make = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const length = body === undefined ? {} : { 'content-length': lengthOf(body) };
    const sent = make(url, {
      method,
      headers: { ...headers, ...length },
      signal: ended,
      timeout: silenceMs,
      agent: false,
    });
    let answered = false;
    sent.on('timeout', () => {
      silent = new Error(`it said nothing for ${silenceMs / 1000} s`);
      sent.destroy(silent);
    });
    // A host that answers before it was told everything has answered.
    onFailure(sent, (thrown) => answered || reject(thrown));
    sent.on('response', (answer) => {
      answered = true;
      readAll(answer, maxBytes).then(
        (read) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: read }),
        reject,
      );
    });
    if (body === undefined || typeof body === 'string') return void sent.end(body);
    sent.write(body.beginning);
    const file = createReadStream(body.file);
    file.on('error', (thrown) => sent.destroy(thrown));
    sent.on('close', () => file.destroy());
    file.pipe(sent);
  });
};

const readAll = async (answer: IncomingMessage, maxBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`it answered more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const whyEnded = (thrown: unknown, ended: AbortSignal, timeoutMs: number): Error => {
  if (!ended.aborted) return thrown instanceof Error ? thrown : new Error(String(thrown));
  const reason: unknown = ended.reason;
  return reason instanceof Error && reason.name === 'TimeoutError'
    ? new Error(`it took longer than ${timeoutMs / 1000} s`)
    : new Error('it was broken off');
};
