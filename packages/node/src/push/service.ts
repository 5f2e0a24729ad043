// Glossary. A browser that is told is one whose own push service takes messages for it while no window of the client is open.
// A message names the session and nothing that was said in it: it passes through somebody else's server, and shows on a locked screen.

import { createHmac } from 'node:crypto';
import { OrreryError, type Caller, type PushCreate, type PushView } from '@orrery/protocol';
import { toInstant, type Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Browser, PushFile } from './keep.ts';
import { PUSH_BROWSERS } from './limits.ts';
import type { SendPush, Sent } from './send.ts';

export type PushParts = {
  readonly file: PushFile;
  readonly send: SendPush;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  /** Whether a token is still good: a browser is told for as long as it is let in. */
  tokenLives(id: string): Promise<boolean>;
};

/** Use cases of push. */
export type Push = {
  list(caller: Caller): Promise<{ key: string; items: PushView[] }>;
  /** The same address again is the same browser. @throws OrreryError limit_reached */
  add(asked: PushCreate, caller: Caller): Promise<PushView>;
  /** @throws OrreryError not_found */
  remove(id: string, caller: Caller): Promise<void>;
  /** Sends one message to one browser now; what the service said is in the answer. @throws OrreryError not_found */
  try(id: string, caller: Caller): Promise<PushView>;
  /** Tells every browser that a session needs a person. Never rejects: whoever asks is found in the Inbox too. */
  tell(sessionName: string): Promise<void>;
};

export const createPush = ({ file, send, clock, ids, tokenLives }: PushParts): Push => {
  const mine = async (id: string, caller: Caller): Promise<Browser> => {
    const found = (await file.read()).browsers.find((one) => one.id === id && isOf(one, caller));
    if (found !== undefined) return found;
    throw new OrreryError('not_found', `There is no browser ${id.slice(0, 100)} that is told by push.`, {
      rule: 'A browser is named by its id, by who let it be told or by the owner.',
    });
  };
  const settle = (id: string, sent: Sent): Promise<void> =>
    file.change((all) =>
      sent.state === 'gone'
        ? all.filter((one) => one.id !== id)
        : all.map((one) => (one.id === id ? { ...one, ...became(sent, clock.nowMs()) } : one)),
    );
  const one = async (to: Browser, title: string): Promise<void> => {
    if (!(await tokenLives(to.tokenId))) return file.change((all) => all.filter(({ id }) => id !== to.id));
    const kept = await file.read();
    const topic = createHmac('sha256', kept.privateKey).update(title).digest('base64url').slice(0, TOPIC_CHARS);
    await settle(to.id, await send(kept, to, { text: JSON.stringify({ title }), topic }));
  };
  return {
    list: async (caller) => {
      const { publicKey, browsers } = await file.read();
      return { key: publicKey, items: browsers.filter((browser) => isOf(browser, caller)).map(toView) };
    },
    add: async ({ endpoint, keys }, caller) => {
      const fresh = { id: ids('push'), createdMs: clock.nowMs(), toldMs: null, error: null };
      const added: Browser[] = [];
      await file.change((all) => {
        const known = all.find((browser) => browser.endpoint === endpoint);
        const others = all.filter((browser) => browser !== known);
        if (others.length >= PUSH_BROWSERS) throw full();
        added.push({ ...fresh, ...known, endpoint, keys, tokenId: caller.token ?? '', by: caller.name });
        return [...others, ...added];
      });
      return toView(added[0]!);
    },
    remove: async (id, caller) => {
      await mine(id, caller);
      await file.change((all) => all.filter((browser) => browser.id !== id));
    },
    try: async (id, caller) => {
      const to = await mine(id, caller);
      await one(to, 'This browser is told what needs you');
      return toView(
        (await file.read()).browsers.find((browser) => browser.id === id) ?? { ...to, error: 'it takes no messages any more' },
      );
    },
    tell: async (sessionName) => {
      const { browsers } = await file.read();
      await Promise.all(browsers.map((to) => one(to, `${sessionName} needs you`)));
    },
  };
};

const isOf = ({ tokenId }: Browser, { scope, token }: Caller): boolean => scope === 'owner' || tokenId === token;

const became = (sent: Sent, nowMs: number): Partial<Browser> =>
  sent.state === 'failed' ? { error: sent.reason } : { toldMs: nowMs, error: null };

/** The most that services take. It tells them nothing of the session. */
const TOPIC_CHARS = 32;

const toView = ({ id, endpoint, by, createdMs, toldMs, error }: Browser): PushView => ({
  id,
  service: new URL(endpoint).host,
  by,
  createdAt: toInstant(createdMs),
  toldAt: toldMs === null ? null : toInstant(toldMs),
  error,
});

const full = (): OrreryError =>
  new OrreryError('limit_reached', 'Too many browsers are told by push.', {
    rule: `At most ${PUSH_BROWSERS}.`,
    fix: 'Let one go in the page Access of the web client.',
  });
