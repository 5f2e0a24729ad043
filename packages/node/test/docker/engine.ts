// An engine with a small image for a file of tests, and a socket before it that can be cut.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { importSmallImage, startTestEngine, testEngineKind, whyNoEngine } from '@orrery/testkit';
import type { TestEngine, TestEngineKind } from '@orrery/testkit';
import { afterAll, beforeAll, describe } from 'vitest';

/** The image of the tests. Its user is `agent`, 1000:1000. */
export const SMALL_IMAGE = 'orrery-test/small:1';

/**
 * Describes what needs an engine: one for all of it, of the kind that tests are asked for. What is of one kind alone names it,
 * and Podman's is there in any case, Docker's not where Podman is asked for. Skipped aloud where none can be started.
 */
export const describeWithEngine = (name: string, body: (engine: () => TestEngine) => void, only?: TestEngineKind): void => {
  const kind = only ?? testEngineKind();
  const unwanted = kind === 'docker' && testEngineKind() === 'podman';
  const why = unwanted ? 'ORRERY_TEST_ENGINE is podman' : whyNoEngine(kind);
  if (why !== null) process.stderr.write(`skipped: ${name}: ${why}\n`);
  describe.skipIf(why !== null)(name, () => {
    let engine: TestEngine | null = null;
    beforeAll(async () => {
      engine = await startTestEngine(kind);
      await importSmallImage(engine, SMALL_IMAGE);
    });
    afterAll(async () => {
      await engine?.close();
    });
    body(() => engine!);
  });
};

/** A socket that leads to another one, until it is cut. */
export type CuttableSocket = { readonly path: string; cut(): Promise<void>; mend(): Promise<void>; close(): Promise<void> };

/** Puts a socket of its own before `target`. */
export const createCuttableSocket = async (target: string): Promise<CuttableSocket> => {
  const directory = mkdtempSync(join(tmpdir(), 'orrery-cut-'));
  const path = join(directory, 's.sock');
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (here) => {
    const there = connect({ path: target, allowHalfOpen: true });
    for (const socket of [here, there]) {
      open.add(socket);
      socket.on('error', () => undefined).once('close', () => open.delete(socket));
    }
    here.pipe(there).pipe(here);
  });
  const mend = (): Promise<void> =>
    new Promise((resolve) => {
      server.listen(path, resolve);
    });
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => {
      server.close(resolve);
    });
    for (const socket of open) socket.destroy();
    await closed;
  };
  await mend();
  return {
    path,
    cut,
    mend,
    close: async () => {
      if (server.listening) await cut();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

/** Ids of the containers that an installation has in an engine. */
export const containersOf = async (engine: TestEngine, installation: string): Promise<string[]> => {
  const { text } = await engine.ask('GET', '/containers/json?all=true');
  const all = JSON.parse(text) as { readonly Id: string; readonly Labels: Readonly<Record<string, string>> }[];
  return all.filter(({ Labels }) => Labels['dev.orrery.installation'] === installation).map(({ Id }) => Id);
};
