// Programs that the containers of a node share: brought once, read-only to all of them, and gone when nobody needs them.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { word } from '../../../test/conformance/stage.ts';
import { makeDockerBackend } from '../../../test/docker/backend.ts';
import { describeWithEngine } from '../../../test/docker/engine.ts';
import { createPlaces, shellIn } from '../../../test/docker/places.ts';
import { sampleEnvironment } from '../../../test/exec/sample-specs.ts';
import { runScript } from '../../../test/remote/scripts.ts';

const pruning = (ids: readonly string[]) => ({
  live: () => Promise.resolve(ids),
  known: () => Promise.resolve(ids),
  dryRun: false,
});

describeWithEngine('what containers share', (engine) => {
  let root = '';
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'orrery-shared-'));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('is brought once, cannot be written from any of them, and goes with the last of them when it is cleared away', async () => {
    const { installation, provider } = createPlaces(engine);
    const program = join(root, 'program');
    mkdirSync(program);
    // As a strict person's files are: for their owner alone.
    writeFileSync(join(program, 'run'), '#!/bin/sh\necho it runs\n');
    chmodSync(join(program, 'run'), 0o700);
    const grant = { path: program, access: 'rox', scope: 'absolute', provenance: 'orrery', required: true } as const;
    const limits = { wallMs: 120_000, outputBytes: 1_000_000 };
    const backend = makeDockerBackend({ socket: engine().socket, stateDir: join(root, 'state'), installation });
    const open = async () => {
      const id = `env-${word()}`;
      const [workdir, home, scratchpad] = ['work', 'home', 'tmp'].map((name) => join(root, id, name)) as [string, string, string];
      for (const path of [workdir, home, scratchpad]) mkdirSync(path, { recursive: true });
      const spec = { id, workdir, home, scratchpad, grants: [grant], limits, brokerSocket: join(root, 'b.sock') };
      const environment = await backend.open(sampleEnvironment(spec));
      const place = await (await provider()).find(id, {});
      return { environment, said: async (script: string) => (await shellIn(place!, script)).stdout };
    };
    const volumes = async (): Promise<string[]> => {
      const { text } = await engine().ask('GET', '/volumes');
      const { Volumes } = JSON.parse(text) as { Volumes: { Name: string }[] | null };
      return (Volumes ?? []).map(({ Name }) => Name).filter((name) => name.includes(installation));
    };
    const first = await open();
    const second = await open();
    const listed = 'ls /orrery-programs/u1000 | grep -v keeper';
    expect(await first.said(listed)).toMatch(/^[0-9a-f]{32}\.[0-9a-f]+\n$/);
    expect(await second.said(listed)).toBe(await first.said(listed));
    for (const { environment } of [first, second]) expect(await runScript(environment, `'${program}/run'`)).toBe('it runs\n');
    const write =
      'for one in /orrery-programs/x /orrery-programs/u1000/x; do (echo x > $one) 2>/dev/null && echo "wrote $one"; done';
    expect(await first.said(write)).toBe('');
    await first.environment.close();
    expect(await backend.prune?.(pruning([second.environment.id]))).toEqual([]);
    expect(await volumes()).toHaveLength(1);
    await second.environment.close();
    expect(await backend.prune?.(pruning([]))).toEqual([]);
    expect(await volumes()).toEqual([]);
  });
});
