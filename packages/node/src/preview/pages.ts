// Pages of the node's own, shown where a preview has nothing to show. Plain, without scripts, and never kept by a browser.

import { STATUS_CODES, type IncomingMessage } from 'node:http';
import { errorCatalogue, type OrreryError } from '@orrery/protocol/errors';
import { previewOf } from './address.ts';
import { PREVIEW_COOKIE } from './headers.ts';

/** A page to answer with. */
export type Page = {
  readonly status: number;
  readonly title: string;
  readonly lines: readonly string[];
  /** Seconds after which the browser asks again by itself, or where it goes at once. */
  readonly refresh?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0) ?? 32};`).replaceAll(/`([^`]*)`/g, '<code>$1</code>');

const html = ({ title, lines, refresh }: Page): string => {
  const again = refresh === undefined ? '' : `<meta http-equiv="refresh" content="${escaped(refresh)}">`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">${again}<title>${escaped(title)}</title><style>body{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:15vh auto;padding:0 1em}</style><h1>${escaped(title)}</h1>${lines.map((line) => `<p>${escaped(line)}</p>`).join('')}</html>\n`;
};

/** A page as status, headers and body; as text for what is no browser. */
export const answerOf = (page: Page, request: Pick<IncomingMessage, 'headers'>) => {
  const wantsHtml = (request.headers.accept ?? '').includes('text/html');
  const body = wantsHtml ? html(page) : [page.title, ...page.lines, ''].join('\n');
  return {
    status: page.status,
    text: STATUS_CODES[page.status] ?? '',
    headers: {
      'content-type': `text/${wantsHtml ? 'html' : 'plain'}; charset=utf-8`,
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      ...page.headers,
    },
    body,
  };
};

/** The host is none of a preview. */
export const noPreview: Page = {
  status: 421,
  title: 'There is no preview at this address.',
  lines: ['A preview has the exact address that `orrery env preview ENV PORT` prints.'],
};

/** The browser was not let in. */
export const letIn = (name: string): Page => {
  const of = previewOf(name);
  return {
    status: 401,
    title: 'This browser was not let in.',
    lines: [
      'A preview is opened by a link that works once; a browser stays let in for twelve hours, or until the node ends.',
      `Make a new link: \`orrery env preview ${of?.environmentId ?? 'ENV'} ${of?.port ?? 'PORT'}\``,
    ],
  };
};

/** A browser that comes by a link. The page goes on by itself: a redirect would leave the new cookie behind. */
export const entered = (secret: string | null, lastsMs: number): Page => ({
  status: 200,
  title: 'The preview opens.',
  lines: [],
  refresh: '0;url=/',
  headers:
    secret === null
      ? {}
      : {
          'set-cookie': `${PREVIEW_COOKIE}=${secret}; Path=/; Max-Age=${Math.floor(lastsMs / 1000)}; HttpOnly; SameSite=Strict`,
        },
});

/** A request of another page. */
export const foreignPage: Page = {
  status: 403,
  title: 'The request comes from another page.',
  lines: ['A preview is reached from its own pages only.'],
};

export const malformed: Page = {
  status: 400,
  title: 'The request is not understood.',
  lines: ['A preview takes HTTP/1.1 and WebSocket, with the path of a request alone in its first line.'],
};

/** Why the program was not reached; what may pass is tried again by the browser. */
export const unreachable = (error: OrreryError): Page => {
  const passes = ['not_found', 'conflict', 'busy', 'backend_unreachable', 'internal'].includes(error.code);
  const status = ['limit_reached', 'rate_limited'].includes(error.code) ? errorCatalogue[error.code].http : 502;
  const lines = error.toLines().slice(1);
  return {
    status: status === 429 ? 503 : status,
    title: error.message,
    lines: passes ? [...lines, 'This page tries again by itself.'] : lines,
    ...(passes ? { refresh: '3' } : {}),
  };
};
