import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { grants, openBrokerPlace, tunnelTo, type BrokerPlace, type PlaceOptions } from '../../test/broker-place.ts';
import { LIVE_RULES } from './limits.ts';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).toReversed()) await thing.close();
});
const open = async (options: PlaceOptions = {}): Promise<BrokerPlace> => {
  const place = await openBrokerPlace({ resolve: async () => ['127.0.0.1'], ...options });
  opened.push(place);
  return place;
};
/** A server that takes connections and says nothing. */
const quietServer = async (): Promise<number> => {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => void sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({ close: () => (server.close(), sockets.forEach((socket) => socket.destroy())) });
  return (server.address() as { port: number }).port;
};
const closed = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve).resume());
const environment = { environmentId: 'env_1' };
const mint = async (place: BrokerPlace, egress: readonly string[]): Promise<string> =>
  (await place.broker.tokens.mint(grants('env_1', { egress }))).egress;
const rule = (place: BrokerPlace, decision: 'allow' | 'deny', text: string) =>
  place.broker.egress.change(environment, { rule: text, decision, actor: 'token:owner' });

describe('egress while an environment is open', () => {
  it('opens at once, to the same token, and is still open after a restart of the node', async () => {
    const port = await quietServer();
    const place = await open();
    const token = await mint(place, []);
    await expect(tunnelTo(place, `shop.test:${port}`, token)).rejects.toThrow('403 egress-denied: shop.test');
    await rule(place, 'allow', `SHOP.test.:${port}`);
    await rule(place, 'allow', `127.0.0.1:${port}`);
    (await tunnelTo(place, `shop.test:${port}`, token)).destroy();
    await place.restart();
    (await tunnelTo(place, `shop.test:${port}`, token)).destroy();
    const view = await place.broker.egress.show({ taskId: 'task-of-env_1' });
    expect(view).toMatchObject({ environmentId: 'env_1', taskId: 'task-of-env_1' });
    expect(view.rules).toEqual([
      { rule: `shop.test:${port}`, decision: 'allow', from: 'operator', beaten: false },
      { rule: `127.0.0.1:${port}`, decision: 'allow', from: 'operator', beaten: false },
    ]);
  });

  it.each([
    ['https://registry.npmjs.org/path', 'registry.npmjs.org'],
    ['http://[::1]:8080/', '[::1]:8080'],
    ['no rule at all', 'HOST'],
  ])('takes no %s, and says the command with its host', async (text, host) => {
    const place = await open();
    await mint(place, []);
    for (const decision of ['allow', 'deny'] as const)
      await expect(rule(place, decision, text)).rejects.toMatchObject({
        code: 'config_invalid',
        fix: `orrery egress ${decision} env_1 ${host}`,
      });
  });

  it('is denied at once: what is open there ends, what is open elsewhere stays', async () => {
    const port = await quietServer();
    const place = await open();
    const token = await mint(place, ['127.0.0.1', `127.0.0.1:${port}`, `*.shop.test:${port}`, `other.test:${port}`]);
    const denied = await tunnelTo(place, `a.shop.test:${port}`, token);
    const kept = await tunnelTo(place, `other.test:${port}`, token);
    const ended = closed(denied);
    expect(await rule(place, 'deny', '*.shop.test')).toMatchObject({ ended: 1, connections: 1 });
    await ended;
    await expect(tunnelTo(place, `b.shop.test:${port}`, token)).rejects.toThrow('403 egress-denied: b.shop.test');
    expect(kept.destroyed).toBe(false);
    await expect
      .poll(async () => (await place.audited()).find(({ subject }) => subject.startsWith('a.shop.test')))
      .toMatchObject({ actor: 'task:task-of-env_1', outcome: 'refused', detail: { reason: 'the operator denies it' } });
    const view = await place.broker.egress.show(environment);
    expect(view.rules.find(({ rule: text }) => text === `*.shop.test:${port}`)).toMatchObject({ beaten: true });
    kept.destroy();
  });

  it('ends connections to an address that is denied, whatever name they were asked by', async () => {
    const port = await quietServer();
    const place = await open();
    const token = await mint(place, [`127.0.0.1:${port}`, `shop.test:${port}`]);
    const ended = closed(await tunnelTo(place, `shop.test:${port}`, token));
    expect(await rule(place, 'deny', '127.0.0.1')).toMatchObject({ ended: 1 });
    await ended;
    await expect(tunnelTo(place, `shop.test:${port}`, token)).rejects.toThrow('403 egress-denied: shop.test');
  });

  it('is turned around by the newest word on the same rule, but the configuration of the node beats it', async () => {
    const port = await quietServer();
    const denied: string[] = [];
    const place = await open({ egressDeny: () => denied });
    const token = await mint(place, [`127.0.0.1:${port}`]);
    await rule(place, 'deny', '127.0.0.1');
    await rule(place, 'allow', '127.0.0.1');
    const held = await tunnelTo(place, `127.0.0.1:${port}`, token);
    const ended = closed(held);
    denied.push('127.0.0.1');
    await place.broker.egress.recheck();
    await ended;
    const { rules } = await rule(place, 'allow', `127.0.0.1:${port}`);
    expect(rules.filter(({ decision }) => decision === 'allow').map(({ beaten }) => beaten)).toEqual([true, true, true]);
    await expect(tunnelTo(place, `127.0.0.1:${port}`, token)).rejects.toThrow('403 egress-denied: 127.0.0.1');
  });

  it('holds for the environment whichever token it has, and ends with it', async () => {
    const port = await quietServer();
    const place = await open();
    await mint(place, []);
    await rule(place, 'allow', `127.0.0.1:${port}`);
    const next = await mint(place, []);
    (await tunnelTo(place, `127.0.0.1:${port}`, next)).destroy();
    await place.broker.tokens.end('env_1');
    await expect(rule(place, 'allow', 'shop.test')).rejects.toMatchObject({ code: 'conflict' });
    const other = await mint(place, []);
    await expect(tunnelTo(place, `127.0.0.1:${port}`, other)).rejects.toThrow('403 egress-denied: 127.0.0.1');
  });

  it('is decided by the rules that hold when the connection is made, not when it was asked for', async () => {
    const port = await quietServer();
    let meanwhile: (() => Promise<unknown>) | null = null;
    const place = await open({ resolve: async () => (await meanwhile?.(), ['127.0.0.1']) });
    const token = await mint(place, [`127.0.0.1:${port}`, `shop.test:${port}`]);
    meanwhile = () => rule(place, 'deny', 'shop.test');
    await expect(tunnelTo(place, `shop.test:${port}`, token)).rejects.toThrow('403 egress-denied: shop.test');
  });

  it('is told with who changed it, and each refused host once', async () => {
    const place = await open();
    const token = await mint(place, []);
    for (let time = 0; time < 3; time++)
      await expect(tunnelTo(place, 'evil.test:443', token)).rejects.toThrow('403 egress-denied: evil.test');
    await rule(place, 'allow', 'evil.test');
    const kinds = async () =>
      (await place.store.events({ after: 0, limit: 100 }))
        .map(({ body }) => body)
        .filter(({ kind }) => kind.startsWith('egress'));
    await expect.poll(async () => (await kinds()).length).toBe(2);
    expect(await kinds()).toEqual(
      expect.arrayContaining([
        { kind: 'egress.refused', host: 'evil.test', port: 443, reason: 'no rule allows it' },
        { kind: 'egress.changed', environmentId: 'env_1', rule: 'evil.test', decision: 'allow' },
      ]),
    );
    await expect.poll(async () => (await place.audited()).filter(({ action }) => action === 'egress.connect').length).toBe(3);
    expect(await place.audited()).toContainEqual({
      actor: 'token:owner',
      action: 'egress.allow',
      subject: 'env_1',
      outcome: 'done',
      detail: { rule: 'evil.test' },
    });
    const { hosts } = await place.broker.egress.show(environment);
    expect(hosts).toMatchObject([{ host: 'evil.test', port: 443, passed: 0, refused: 3, reason: 'no rule allows it' }]);
  });

  it('takes rules that make sense, up to a number', async () => {
    const place = await open();
    await mint(place, []);
    await expect(rule(place, 'allow', 'not a host')).rejects.toMatchObject({ code: 'config_invalid' });
    for (let number = 0; number < LIVE_RULES; number++) await rule(place, 'deny', `host${number}.test`);
    await expect(rule(place, 'deny', 'one-more.test')).rejects.toMatchObject({ code: 'limit_reached' });
    await rule(place, 'allow', 'host0.test');
  });
});
