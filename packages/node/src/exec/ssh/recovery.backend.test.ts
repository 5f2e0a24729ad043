// A node that dies while it uses a host: everything there is found again or settled, nothing of it is left, no connection
// outlives it, and what belongs to others is not touched.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { until, word } from '../../../test/conformance/stage.ts';
import { describeRecovery } from '../../../test/remote/describe-recovery.ts';
import * as module from '../../../test/ssh/crash-backend.ts';
import { noSshHost, startSshHost } from '../../../test/ssh/host.ts';
import type { SshHost } from '../../../test/ssh/host.ts';
import { optionsFor } from '../../../test/ssh/places.ts';
import { clientsOf, leftOn } from '../../../test/ssh/stage.ts';

describe.skipIf(noSshHost() !== null)('on a host', () => {
  let host: SshHost;
  beforeAll(async () => {
    host = await startSshHost();
  });
  afterAll(() => host?.close());

  /** Folders of the node, and once there is no folder at all, keepers of anybody. */
  const left = (installation: string): string[] => {
    const folders = leftOn(host);
    const keepers = host.processes().filter((line) => line.includes('orrery-keeper'));
    return [...folders.filter((path) => path.includes(installation)), ...(folders.length === 0 ? keepers : [])];
  };
  describeRecovery('a node that dies', {
    path: join(import.meta.dirname, '../../../test/ssh/crash-backend.ts'),
    module,
    given: () => optionsFor(host),
    installation: () => `inst-${word()}`,
    left: (installation) => Promise.resolve(left(installation)),
    watch: (stateDir, step) => {
      expect(clientsOf(stateDir).length > 0).toBe(step !== 'place-recorded');
      return () => until('its connections end with it', () => clientsOf(stateDir).length === 0, 60_000);
    },
    bystander: () => {
      const stranger = join(host.home('root'), '.local/share/orrery/notes');
      mkdirSync(stranger, { recursive: true });
      writeFileSync(join(stranger, 'note'), 'mine');
      return () => {
        expect(existsSync(join(host.home('root'), '.local/share/orrery/env'))).toBe(false);
        expect(readFileSync(join(stranger, 'note'), 'utf8')).toBe('mine');
      };
    },
  });
});
