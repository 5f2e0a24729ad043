// One request to a code host, over https (http to this machine alone). The token is a header of this process: no child of
// the node has it, and it goes to no other address, since nothing is followed.
import { createReadStream } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';

/** What is sent: a text, or a beginning and a file behind it. */
export type HostBody = string | { readonly beginning: string; readonly file: string; readonly fileBytes: number };

export type HostRequest = {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
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
  const ends = [AbortSignal.timeout(timeoutMs), ...(asked.signal === undefined ? [] : [asked.signal])];
  return new Promise((resolve, reject) => {
    const make = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const length = body === undefined ? {} : { 'content-length': lengthOf(body) };
    const sent = make(url, {
      method,
      headers: { ...headers, ...length },
      signal: AbortSignal.any(ends),
      timeout: silenceMs,
      agent: false,
    });
    let answered = false;
    sent.on('timeout', () => sent.destroy(new Error(`it said nothing for ${silenceMs / 1000} s`)));
    // A host that answers before it was told everything has answered.
    sent.on('error', (thrown) => answered || reject(whyEnded(thrown, timeoutMs)));
    sent.on('response', (answer) => {
      answered = true;
      readAll(answer, maxBytes).then(
        (read) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: read }),
        (thrown: unknown) => reject(whyEnded(thrown, timeoutMs)),
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

const whyEnded = (thrown: unknown, timeoutMs: number): Error => {
  if (!(thrown instanceof Error)) return new Error(String(thrown));
  const cause: unknown = thrown.cause;
  if (thrown.name !== 'AbortError') return thrown;
  return cause instanceof Error && cause.name === 'TimeoutError'
    ? new Error(`it took longer than ${timeoutMs / 1000} s`)
    : new Error('it was broken off');
};
