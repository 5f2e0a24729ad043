// Glossary. A place is one folder with everything a test's node has: data, configuration, a home, repositories. A life is
// one process of the node in it; a place has as many lives as the test starts.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { createClient, type Client } from '@orrery/client';
import { afterAll, onTestFinished, type TestContext } from 'vitest';
import { runCli, type CliAnswer, type CliOptions } from './cli.ts';
import { startLife, type Life, type LifeOptions } from './life.ts';
import { endAll, processesOf } from './process-tree.ts';

/** Root of the checkout. */
export const ROOT = join(import.meta.dirname, '../..');

/** Where the agent programs of the tests are installed. */
export const PROGRAMS = process.env['ORRERY_TEST_PROGRAMS'] ?? join(ROOT, '.tools/programs');

/** Everything of one test's node. */
export type Place = {
  readonly folder: string;
  readonly data: string;
  readonly config: string;
  /** Variables of every process of the place: nothing of the machine's own but PATH. */
  readonly env: Readonly<Record<string, string>>;
  /** Replaces the configuration; JSON is YAML. */
  configure(config: object): void;
  up(options?: LifeOptions): Promise<Life>;
  /** A client of a life, with the owner's token. */
  client(life: Pick<Life, 'url'>): Client;
  cli(args: readonly string[], options?: CliOptions): Promise<CliAnswer>;
  /** Ends every process of the place and takes the folder away. */
  close(): Promise<void>;
};

const variables = (folder: string): Record<string, string> => ({
  PATH: [dirname(process.execPath), process.env['PATH'] ?? '/usr/bin:/bin'].join(delimiter),
  HOME: join(folder, 'home'),
  LANG: 'C.UTF-8',
  USER: 'tester',
  NO_COLOR: '1',
  // Many nodes start here; as with bin/orrery, each start reads what the first one compiled.
  NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/orrery-e2e'),
  ORRERY_DATA: join(folder, 'data'),
  ORRERY_CONFIG: join(folder, 'config'),
  ORRERY_PROGRAMS: PROGRAMS,
  ORRERY_SECRET_TEST: 'made-up-provider-key',
});

/** A place that its maker closes. Its path is short: Unix sockets below it must fit 107 bytes. */
export const openPlaceOf = (config: object = {}): Place => {
  const folder = mkdtempSync('/tmp/oe-');
  const [data, configuration] = [join(folder, 'data'), join(folder, 'config')];
  for (const made of [configuration, join(folder, 'home'), join(folder, 'repositories')]) mkdirSync(made);
  const env = variables(folder);
  const lives: Life[] = [];
  const clients: Client[] = [];
  const configure = (value: object): void => writeFileSync(join(configuration, 'config.yaml'), JSON.stringify(value));
  configure(config);
  return {
    folder,
    data,
    config: configuration,
    env,
    configure,
    up: async (options = {}) => {
      const life = await startLife({ data, config: configuration, env }, options);
      lives.push(life);
      return life;
    },
    client: (life) => {
      const client = createClient({ url: life.url, token: () => readFileSync(join(data, 'owner.token'), 'utf8').trim() });
      clients.push(client);
      return client;
    },
    cli: (args, options = {}) => runCli(args, { ...options, cwd: options.cwd ?? folder, env: { ...env, ...options.env } }),
    close: async () => {
      for (const client of clients) client.close();
      for (const life of lives) await life.kill();
      await endAll(() => processesOf(folder));
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
};

/** A place for one test; it goes away with the test, however that ends. Concurrent tests give their context. */
export const placeOfTest = (config: object = {}, context?: TestContext): Place => {
  const place = openPlaceOf(config);
  (context?.onTestFinished ?? onTestFinished)(() => place.close());
  return place;
};

/** A place for the tests of one file or group. */
export const placeOfSuite = (config: object = {}): Place => {
  const place = openPlaceOf(config);
  afterAll(() => place.close());
  return place;
};
