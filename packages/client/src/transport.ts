// What the client needs of a network: one request, one streamed answer. Two implementations: node:http (`http-transport.ts`)
// and fetch (`fetch-transport.ts`), so that the same client runs in a browser.

/** One request. `body` is JSON text, the bytes of a file, or null. */
export type TransportRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  readonly signal: AbortSignal;
};

/** One answer, headers in lower case. Reading `body` to its end or aborting the signal releases the connection. */
export type TransportAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
};

/**
 * Sends requests and never follows a redirect. A failed `send` rejects with a `TransportFailure`, an abort with the signal's
 * reason; a broken body throws while it is read.
 */
export type Transport = {
  send(request: TransportRequest): Promise<TransportAnswer>;
  /** Closes idle connections. */
  close(): void;
};

/** The network failed. `sent` false: nothing of the request reached the node, so that trying again cannot do a thing twice. */
export class TransportFailure extends Error {
  readonly sent: boolean;

  constructor(message: string, options: { readonly sent: boolean; readonly cause: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'TransportFailure';
    this.sent = options.sent;
  }
}
