import { describe, expect, it } from 'vitest';
import { describeBackend, GROUPS_BY_USER } from '../../../test/conformance/describe-backend.ts';
import { isNobodysRun, nobodyReads, runAsNobody } from '../../../test/conformance/run-as-nobody.ts';
import { findKeeperBinary } from '../../keeper/binary.ts';
import { createKeeperClient } from '../../keeper/client.ts';
import { sandboxFactory } from './index.ts';

const keeper = createKeeperClient({ binary: () => findKeeperBinary() });
const root = process.getuid?.() === 0;

describeBackend(
  root ? 'sandbox as root' : 'sandbox as a user',
  (place) => sandboxFactory({ keeper, variables: process.env, ...place }).make({}),
  {
    confines: { files: true, network: true, processes: true },
    enforces: { memory: root, processes: root },
    ...(isNobodysRun() && { groups: GROUPS_BY_USER }),
  },
);

describe.runIf(!isNobodysRun())('sandbox as a user without rights', () => {
  // Skipped aloud: a report of a run that was not root's shows that this was not tried.
  it.skipIf(!root)('all cases that differ by the user hold', { timeout: 600_000 }, async ({ skip }) => {
    skip(!nobodyReads(import.meta.filename), 'the sources lie in a directory that other users cannot read');
    const { failures, passed } = await runAsNobody(import.meta.filename);
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(40);
  });
});
