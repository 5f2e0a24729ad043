import { TransportFailure, type Transport } from './transport.ts';

/** What of `fetch` is used; a parameter, so that a page or a test gives its own. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A transport over `fetch`, for browsers. A failed fetch does not tell whether anything was sent: `sent` is always true. */
export const fetchTransport = (fetch: Fetch = globalThis.fetch.bind(globalThis)): Transport => ({
  send: async ({ method, url, headers, body, signal }) => {
    const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' }).catch((thrown: unknown) => {
      if (signal.aborted) throw signal.reason;
      throw new TransportFailure('The connection failed.', { sent: true, cause: thrown });
    });
    // A browser hides a redirect behind the status 0.
    const status = response.type === 'opaqueredirect' ? 302 : response.status;
    return { status, headers: Object.fromEntries(response.headers.entries()), body: chunksOf(response) };
  },
  close: () => undefined,
});

async function* chunksOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
