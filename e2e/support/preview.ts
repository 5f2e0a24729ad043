// Previews of ports, asked as a browser asks them.
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { PreviewLink } from '@orrery/protocol';
import { expect } from 'vitest';
import type { Place } from './place.ts';

/** What an address answers. */
type Answer = { readonly status: number; readonly body: string; readonly cookie: string };

/** A request to an origin of a preview, whose name leads to this machine. */
export const dial = (url: string, headers: Readonly<Record<string, string>>) => {
  const { host, port, pathname, search } = new URL(url);
  return request({ host: '127.0.0.1', port, path: `${pathname}${search}`, headers: { host, ...headers }, agent: false });
};

export const look = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
  const [answer] = (await once(dial(url, headers).end(), 'response')) as [IncomingMessage];
  const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  return { status: answer.statusCode ?? 0, body: await text(answer), cookie };
};

/** Previews of a node. */
export const previewsOn = (place: Pick<Place, 'cli'>) => {
  const preview = async (...args: readonly string[]): Promise<PreviewLink> => {
    const answer = await place.cli(['env', 'preview', ...args, '--json']);
    expect([answer.code, answer.stderr]).toEqual([0, expect.anything()]);
    return answer.envelope().result as PreviewLink;
  };
  const entered = async (...args: readonly string[]): Promise<{ readonly origin: string; readonly cookie: string }> => {
    const { link, origin } = await preview(...args);
    return { origin, cookie: (await look(link)).cookie };
  };
  return { preview, entered };
};
