import { describe, expect, it } from 'vitest';
import { authorizationOf, cookieName, forBrowser, type Credentials } from './browser.ts';

const NAME = cookieName('ins_01abcDEF-23456789012345');
const asked = (more: Partial<Credentials> = {}): Credentials => ({
  method: 'GET',
  authorization: undefined,
  cookie: `other=1; ${NAME}=orr_viewer_1; x`,
  origin: undefined,
  site: undefined,
  ...more,
});

describe('the cookie of a browser', () => {
  it('has a name of its node, in letters and digits', () => {
    expect(NAME).toMatch(/^orrery_[a-zA-Z0-9]{16}$/);
    expect(cookieName('ins_another-one-0123456789')).not.toBe(NAME);
  });

  it('counts when nothing else says who asks', () => {
    expect(authorizationOf(asked(), NAME)).toBe('Bearer orr_viewer_1');
    expect(authorizationOf(asked({ authorization: 'Bearer mine' }), NAME)).toBe('Bearer mine');
    expect(authorizationOf(asked({ cookie: 'other=1' }), NAME)).toBeUndefined();
    expect(authorizationOf(asked({ cookie: undefined }), NAME)).toBeUndefined();
  });

  it('counts for a write only with the origin of the page, and for no read that another site makes', () => {
    expect(() => authorizationOf(asked({ method: 'POST' }), NAME)).toThrow(expect.objectContaining({ code: 'forbidden' }));
    expect(authorizationOf(asked({ method: 'POST', origin: 'http://127.0.0.1:1' }), NAME)).toBe('Bearer orr_viewer_1');
    expect(authorizationOf(asked({ site: 'same-origin' }), NAME)).toBe('Bearer orr_viewer_1');
    for (const site of ['cross-site', 'same-site', 'none'])
      expect(() => authorizationOf(asked({ site }), NAME)).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it('is set where a browser is let in and taken away where it leaves; no answer holds the token', () => {
    const token = { name: 'browser', scope: 'owner', token: 'orr_owner_1' };
    expect(forBrowser('loginEnter', token, { name: NAME, secure: false })).toEqual({
      value: { name: 'browser', scope: 'owner' },
      headers: { 'set-cookie': `${NAME}=orr_owner_1; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000` },
    });
    expect(forBrowser('loginLeave', { ok: true }, { name: NAME, secure: true }).headers['set-cookie']).toBe(
      `${NAME}=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0`,
    );
    expect(forBrowser('tokenCreate', token, { name: NAME, secure: true })).toEqual({ value: token, headers: {} });
  });
});
