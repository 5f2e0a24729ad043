// Real web clients behind the proxy: what is allowed works, and what is refused is explained in what they print.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grants, openBrokerPlace, type BrokerPlace } from '../../test/broker-place.ts';
import { openEgressWorld, type EgressWorld } from '../../test/egress-world.ts';

const repository = join(import.meta.dirname, '..', '..', '..', '..');

/** The first line of what a program prints, or null when it is not here. */
const firstLine = (command: string, args: readonly string[]): string | null => {
  try {
    return execFileSync(command, [...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')[0] ?? '';
  } catch {
    return null;
  }
};
// The program behind wrappers that read the user's own variables.
const python = firstLine('python3', ['-c', 'import pip, sys; print(sys.executable)']);

// The oldest line that knows the proxy variables: it came to 22 with 22.21. Fetched once, exactly as pinned.
const node22 = firstLine(process.execPath, [join(repository, 'tools', 'test-programs.ts'), 'node22']);

type Client = {
  readonly name: string;
  readonly here: boolean;
  /** Asks a host; `origin` is `https://HOST:PORT`. */
  readonly command: (origin: string) => readonly [command: string, args: readonly string[]];
  readonly site: string;
  readonly answer: RegExp;
  /** What it prints of a refusal. */
  readonly refused: RegExp;
};

const fetchIt = 'const a = await fetch(process.argv[1]); console.log(await a.text())';
const getIt =
  "import https from 'node:https'; https.get(process.argv[1], (a) => a.pipe(process.stdout)).on('error', (e) => { console.error(e.message); process.exit(1); })";

const clients: readonly Client[] = [
  {
    name: 'curl',
    here: firstLine('curl', ['--version']) !== null,
    command: (origin) => ['curl', ['-sS', '-v', `${origin}/page`]],
    site: 'web',
    answer: /the web has \/page/,
    refused: /egress-denied: denied\.egress\.test \(no rule allows it\)[\s\S]*orrery egress allow/,
  },
  {
    name: 'git',
    here: true,
    command: (origin) => ['git', ['clone', '-q', `${origin}/repository.git`, `clone-${Math.random()}`]],
    site: 'git',
    answer: /^$/,
    // All that it passes on of the proxy's answer.
    refused: /CONNECT.*403/,
  },
  {
    name: 'npm',
    here: firstLine('npm', ['--version']) !== null,
    command: (origin) => [
      'npm',
      ['install', '--no-audit', '--no-fund', '--prefix', `npm-${Math.random()}`, '--registry', origin, 'thing'],
    ],
    site: 'npm',
    answer: /added 1 package/,
    refused: /403 egress-denied: denied\.egress\.test \(no rule allows it\)/,
  },
  {
    name: 'pip',
    here: python !== null,
    command: (origin) => [
      python ?? '',
      ['-m', 'pip', 'download', '--no-cache-dir', '--retries', '1', '-d', 'pip', '-i', `${origin}/simple`, 'thing'],
    ],
    site: 'pip',
    answer: /Successfully downloaded thing/,
    refused: /egress-denied: denied\.egress\.test/,
  },
  ...[
    { version: process.versions.node.split('.')[0] ?? '', node: process.execPath },
    { version: '22', node: node22 },
  ].flatMap(({ version, node }): Client[] => [
    {
      name: `fetch of Node ${version}`,
      here: node !== null,
      command: (origin) => [node ?? '', ['--input-type=module', '-e', fetchIt, `${origin}/page`]],
      site: 'web',
      answer: /the web has \/page/,
      // All that it passes on of the proxy's answer.
      refused: /Proxy response \(403\)/,
    },
    {
      name: `https of Node ${version}`,
      here: node !== null,
      command: (origin) => [node ?? '', ['--input-type=module', '-e', getIt, `${origin}/page`]],
      site: 'web',
      answer: /the web has \/page/,
      refused: /403 egress-denied: denied\.egress\.test \(no rule allows it\)/,
    },
  ]),
];

describe('real clients behind the egress proxy', () => {
  let place: BrokerPlace;
  let world: EgressWorld;
  let token = '';
  beforeAll(async () => {
    place = await openBrokerPlace({ resolve: async (name) => (name.endsWith('.egress.test') ? ['127.0.0.1'] : []) });
    world = await openEgressWorld(place.broker.socketPath, python);
    const names = ['web', 'git', 'npm', 'pip'].map((site) => `${site}.egress.test:${world.port}`);
    token = (await place.broker.tokens.mint(grants('env_1', { egress: [...names, `127.0.0.1:${world.port}`] }))).egress;
  });
  afterAll(async () => {
    await world.close();
    await place.close();
  });
  const ask = ({ command }: Client, site: string) => world.run(token, ...command(`https://${site}.egress.test:${world.port}`));

  for (const client of clients) {
    it.skipIf(!client.here)(`${client.name} reaches what is allowed`, async () => {
      const { code, out } = await ask(client, client.site);
      expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(client.answer) });
    });

    it.skipIf(!client.here)(`${client.name} says why it was refused`, async () => {
      const { code, out } = await ask(client, 'denied');
      expect(code).not.toBe(0);
      expect(out).toMatch(client.refused);
    });
  }

  it.skipIf(!clients[0]?.here)('curl prints the way out when it asks without TLS', async () => {
    const { out } = await world.run(token, 'curl', ['-sS', 'http://denied.egress.test/']);
    expect(out).toBe(
      "Orrery: denied.egress.test:80 is refused: no rule allows it. To allow it, add denied.egress.test to egress in the project's file, or while it runs: orrery egress allow task-of-env_1 denied.egress.test\n",
    );
  });

  it.skipIf(!clients[0]?.here)('what the operator allows is reached by the program that was refused before', async () => {
    const url = `https://later.egress.test:${world.port}/page`;
    expect((await world.run(token, 'curl', ['-sS', url])).out).toContain('response 403');
    const change = { rule: `later.egress.test:${world.port}`, decision: 'allow', actor: 'token:owner' } as const;
    await place.broker.egress.change({ environmentId: 'env_1' }, change);
    expect((await world.run(token, 'curl', ['-sS', '-o', '/dev/null', '-w', '%{http_code}', url])).out).toBe('404');
  });
});
