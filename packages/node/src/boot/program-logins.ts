// Logins of agent programs, with what they need of the node.

import { join } from 'node:path';
import { appendAudit } from '../audit/index.ts';
import type { Providers } from '../broker/index.ts';
import type { Config } from '../config/config.ts';
import type { NodePaths } from '../config/paths.ts';
import type { Secrets } from '../config/secrets.ts';
import type { HarnessPrograms } from '../harness/install.ts';
import type { HarnessRegistry } from '../harness/registry.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Spawner } from '../kernel/spawner.ts';
import type { Log } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';
import { createProgramLogins, type ProgramLogins } from '../program-login/index.ts';

type Ground = {
  readonly secrets: Secrets;
  readonly config: Config;
  readonly paths: NodePaths;
  readonly log: Log;
  readonly store: Store;
  readonly starter: Spawner;
};
type Known = {
  readonly harnesses: HarnessRegistry;
  readonly programs: HarnessPrograms;
  readonly providers: () => Providers;
  readonly clock: Pick<Clock, 'nowMs'>;
};

export const openProgramLogins = (
  { secrets, config, paths, log, store, starter }: Ground,
  { harnesses, programs, providers, clock }: Known,
): ProgramLogins =>
  createProgramLogins({
    secrets,
    clock,
    log,
    harness: harnesses.get,
    program: programs.installed,
    settings: (id) => config.current().logins[id] ?? { use: true },
    hasKey: async (id) => {
      const provider = providers().find(id);
      return provider !== null && (provider.keyStyle === 'none' || (await provider.key()) !== null);
    },
    directory: join(paths.data, 'logins'),
    spawner: starter,
    record: ({ actor, action, harness }) =>
      store.transaction((tx) => appendAudit(tx.db, { actor, action, subject: harness, outcome: 'done' }, clock.nowMs())),
  });
