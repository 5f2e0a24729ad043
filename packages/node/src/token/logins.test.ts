import type { Caller, TokenView } from '@orrery/protocol';
import { beforeEach, describe, expect, it } from 'vitest';
import { toInstant } from '../kernel/clock.ts';
import { LOGIN_BROWSERS, LOGIN_LINK_MS, LOGIN_LINKS } from './limits.ts';
import { createLogins, type Logins } from './logins.ts';

const owner: Caller = { name: 'owner', scope: 'owner', token: 'tok_owner' };
const viewer: Caller = { name: 'ci', scope: 'viewer', token: 'tok_ci' };

describe('letting a browser in', () => {
  let nowMs = 0;
  let kept: TokenView[] = [];
  let logins: Logins;
  beforeEach(() => {
    nowMs = 1_000_000;
    kept = [];
    let made = 0;
    logins = createLogins({
      clock: { nowMs: () => nowMs },
      random: { bytes: (size: number) => new Uint8Array(size).fill(++made) },
      tokens: {
        create: async ({ name, scope, expiresAtMs }) => {
          const token = { id: `tok_${kept.length}`, name, scope, createdAt: toInstant(nowMs), lastUsedAt: null };
          const view = { ...token, expiresAt: expiresAtMs === null ? null : toInstant(expiresAtMs) };
          kept.push(view);
          return { ...view, token: `orr_${scope}_${kept.length}` };
        },
        list: async () => kept,
        remove: async ({ id }) => void (kept = kept.filter((one) => one.id !== id)),
      },
    });
  });
  const keyOf = ({ path }: { readonly path: string }): string => path.replace('/login#', '');

  it('takes a link once, with the scope of who made it', async () => {
    const key = keyOf(logins.link(owner));
    expect(await logins.enter(key)).toEqual({ name: 'browser', scope: 'owner', token: 'orr_owner_1' });
    await expect(logins.enter(key)).rejects.toMatchObject({ code: 'unauthenticated', fix: 'Make another: orrery open' });
    expect(logins.link(owner, 'viewer').scope).toBe('viewer');
    expect(() => logins.link(viewer, 'operator')).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it('takes no link that is old, unknown, or one too many', async () => {
    const key = keyOf(logins.link(owner));
    nowMs += LOGIN_LINK_MS;
    await expect(logins.enter(key)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(logins.enter('0'.repeat(64))).rejects.toMatchObject({ code: 'unauthenticated' });
    for (let count = 0; count < LOGIN_LINKS; count++) logins.link(owner);
    expect(() => logins.link(owner)).toThrow(expect.objectContaining({ code: 'limit_reached' }));
    nowMs += LOGIN_LINK_MS;
    expect(logins.link(owner).scope).toBe('owner');
  });

  it('is for a bounded number of browsers; those whose time is up make room', async () => {
    for (let count = 0; count < LOGIN_BROWSERS; count++) await logins.enter(keyOf(logins.link(owner)));
    await expect(logins.enter(keyOf(logins.link(owner)))).rejects.toMatchObject({ code: 'limit_reached' });
    nowMs += 31 * 24 * 3_600_000;
    await logins.enter(keyOf(logins.link(owner)));
    expect(kept).toHaveLength(1);
  });

  it('ends when the browser leaves; another token is not taken away so', async () => {
    await logins.enter(keyOf(logins.link(owner)));
    await logins.leave(owner);
    expect(kept).toHaveLength(1);
    await logins.leave({ name: 'browser', scope: 'owner', token: 'tok_0' });
    expect(kept).toEqual([]);
  });
});
