// Who may look at a preview. A link is opened once and lets one browser in; the browser then has a secret of its own in a
// cookie. Both are kept as hashes, in memory: with the node they end.

import { createHash } from 'node:crypto';
import { OrreryError } from '@orrery/protocol/errors';
import type { Clock } from '../kernel/clock.ts';
import { randomHex, type Random } from '../kernel/random.ts';
import { PREVIEW_BROWSER_MS, PREVIEW_BROWSERS, PREVIEW_LINK_MS, PREVIEW_LINKS, PREVIEWS } from './limits.ts';

/** Bytes of chance in a link and in a cookie: beyond guessing. */
const SECRET_BYTES = 32;

export type Access = {
  /** A key that lets one browser in, and until when. @throws OrreryError limit_reached */
  link(preview: string): { readonly key: string; readonly untilMs: number };
  /** Takes a key: answers the secret of the browser that brought it, null when it is none of that preview (any more). @throws OrreryError limit_reached */
  enter(preview: string, key: string): string | null;
  /** Whether a browser that shows this secret was let in there. */
  holds(preview: string, secret: string): boolean;
};

/** Hashes with the moment at which each ends. */
type Kept = Map<string, number>;

/** Makes it. */
export const createAccess = ({ random, clock }: { readonly random: Random; readonly clock: Pick<Clock, 'nowMs'> }): Access => {
  const previews = new Map<string, { readonly links: Kept; readonly browsers: Kept }>();

  const add = (kept: Kept, lastsMs: number): { readonly key: string; readonly untilMs: number } => {
    const key = randomHex(random, SECRET_BYTES);
    const untilMs = clock.nowMs() + lastsMs;
    kept.set(hashOf(key), untilMs);
    return { key, untilMs };
  };
  const holding = (kept: Kept): Kept => {
    for (const [hash, untilMs] of kept) if (untilMs <= clock.nowMs()) kept.delete(hash);
    return kept;
  };
  /** Room for another preview, those that nobody can enter left out. */
  const checkRoom = (): void => {
    if (previews.size < PREVIEWS) return;
    for (const [name, { links, browsers }] of previews)
      if (holding(links).size + holding(browsers).size === 0) previews.delete(name);
    if (previews.size >= PREVIEWS) throw tooMany(`There are ${PREVIEWS} previews.`);
  };

  return {
    link(preview) {
      if (!previews.has(preview)) checkRoom();
      const mine = previews.get(preview) ?? { links: new Map<string, number>(), browsers: new Map<string, number>() };
      if (holding(mine.links).size >= PREVIEW_LINKS) throw tooMany(`${PREVIEW_LINKS} links of this preview were not opened yet.`);
      previews.set(preview, mine);
      return add(mine.links, PREVIEW_LINK_MS);
    },
    enter(preview, key) {
      const mine = previews.get(preview);
      if (mine === undefined || !holding(mine.links).has(hashOf(key))) return null;
      if (holding(mine.browsers).size >= PREVIEW_BROWSERS) throw tooMany(`${PREVIEW_BROWSERS} browsers look at this preview.`);
      mine.links.delete(hashOf(key));
      return add(mine.browsers, PREVIEW_BROWSER_MS).key;
    },
    holds(preview, secret) {
      const mine = previews.get(preview);
      return mine !== undefined && holding(mine.browsers).has(hashOf(secret));
    },
  };
};

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

const tooMany = (message: string): OrreryError =>
  new OrreryError('limit_reached', message, {
    rule: 'Previews, their links and the browsers that look at them are bounded.',
    fix: 'Open one of the links, or wait: a link ends after ten minutes, a browser after twelve hours.',
  });
