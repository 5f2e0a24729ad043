// Glossary. A login link lets one browser in, once; the browser then has a token of its own, in a cookie. Keys of links are
// kept as hashes in memory: with the node they end, browsers do not.

import { createHash } from 'node:crypto';
import { includesScope, type Caller, type Scope } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { toInstant, type Clock } from '../kernel/clock.ts';
import { randomHex, type Random } from '../kernel/random.ts';
import { LOGIN_BROWSER_MS, LOGIN_BROWSERS, LOGIN_LINK_MS, LOGIN_LINKS } from './limits.ts';
import type { Tokens } from './service.ts';

/** Bytes of chance in a link: beyond guessing. */
const KEY_BYTES = 32;

/** How browsers are let in. */
export type Logins = {
  /** @throws OrreryError forbidden for more than the asker has, limit_reached */
  link(caller: Caller, scope?: Scope): { readonly path: string; readonly scope: Scope; readonly until: string };
  /** Takes a key: answers the token of the browser that brought it. @throws OrreryError unauthenticated */
  enter(key: string): Promise<{ readonly name: string; readonly scope: Scope; readonly token: string }>;
  /** Forgets the browser that calls; any other token stays. */
  leave(caller: Caller): Promise<void>;
};

type Link = { readonly scope: Scope; readonly by: string; readonly untilMs: number };

/** Makes it. */
export const createLogins = (parts: {
  readonly tokens: Pick<Tokens, 'create' | 'list' | 'remove'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly random: Random;
}): Logins => {
  const { tokens, clock, random } = parts;
  const links = new Map<string, Link>();

  /** Room for another browser; those whose time is up are forgotten. */
  const makeRoom = async (): Promise<void> => {
    const browsers = (await tokens.list()).filter(({ name }) => name === BROWSER);
    const over = browsers.filter(({ expiresAt }) => expiresAt !== null && Date.parse(expiresAt) <= clock.nowMs());
    for (const { id } of over) await tokens.remove({ id, actor: 'node' });
    if (browsers.length - over.length >= LOGIN_BROWSERS) throw tooManyBrowsers();
  };

  return {
    link(caller, asked) {
      const scope = asked ?? caller.scope;
      if (!includesScope(caller.scope, scope)) throw tooMuch(caller, scope);
      for (const [hash, { untilMs }] of links) if (untilMs <= clock.nowMs()) links.delete(hash);
      if (links.size >= LOGIN_LINKS) throw tooMany();
      const key = randomHex(random, KEY_BYTES);
      const untilMs = clock.nowMs() + LOGIN_LINK_MS;
      links.set(hashOf(key), { scope, by: caller.name, untilMs });
      return { path: `/login#${key}`, scope, until: toInstant(untilMs) };
    },
    async enter(key) {
      const link = links.get(hashOf(key));
      links.delete(hashOf(key));
      if (link === undefined || link.untilMs <= clock.nowMs()) throw spent();
      await makeRoom();
      const { name, scope, token } = await tokens.create({
        name: BROWSER,
        scope: link.scope,
        expiresAtMs: clock.nowMs() + LOGIN_BROWSER_MS,
        actor: `token:${link.by}`,
      });
      return { name, scope, token };
    },
    async leave({ name, token }) {
      if (name === BROWSER && token !== undefined) await tokens.remove({ id: token, actor: `token:${name}` });
    },
  };
};

const BROWSER = 'browser';

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

const spent = (): OrreryError =>
  new OrreryError('unauthenticated', 'This link lets nobody in any more.', {
    rule: 'A link is good once, for ten minutes, and as long as the node runs.',
    fix: 'Make another: orrery open',
  });

const tooMuch = ({ name, scope }: Caller, asked: Scope): OrreryError =>
  new OrreryError('forbidden', `The token "${name}" cannot let a browser in as ${asked}.`, {
    rule: `A link gives at most what who makes it has: ${scope}.`,
    fix: `orrery open --scope ${scope}`,
  });

const tooMany = (): OrreryError =>
  new OrreryError('limit_reached', `${LOGIN_LINKS} login links were not opened yet.`, {
    rule: 'Links that wait are bounded.',
    fix: 'Open one of them, or wait ten minutes.',
  });

const tooManyBrowsers = (): OrreryError =>
  new OrreryError('limit_reached', `${LOGIN_BROWSERS} browsers are let in already.`, {
    rule: 'A browser stays for thirty days, or until its token is removed.',
    fix: 'orrery token list',
  });
