// What stands beside the conductor of a talking place: the use cases of sessions, and what the node asks of others.

import { join } from 'node:path';
import { accountOf } from '../src/harness/account.ts';
import type { Harness } from '../src/harness/harness.ts';
import { countOpen } from '../src/interaction/index.ts';
import type { Ids } from '../src/kernel/ids.ts';
import type { Policies } from '../src/policy/index.ts';
import { createSessions, type SessionConductor, type Sessions } from '../src/session/index.ts';
import { createUsage, limitOf } from '../src/usage/index.ts';
import type { Clock } from '../src/kernel/clock.ts';
import type { Store } from '../src/store/store.ts';
import { still } from './talking-environment.ts';

type Place = {
  readonly store: Store;
  readonly clock: Clock;
  readonly answer: (text: string) => Promise<string>;
  readonly policies: Awaited<ReturnType<Policies['inForce']>>;
  readonly policyStamp: string;
};

/** What the node asks of its neighbours. */
export const asks = (place: Pick<Place, 'store' | 'answer' | 'policies' | 'policyStamp'>) => ({
  policies: { inForce: async () => place.policies, stamp: async () => place.policyStamp },
  ask: ({ text }: { readonly text: string }): Promise<string> => place.answer(text),
  wakeTasks: () => undefined,
  usageOf: createUsage({ store: place.store }).ofTask,
});

const abilities = { images: true, files: true, compaction: true, models: true, effort: true };

/** The use cases of sessions of one start of the node. */
export const sessionsOf = (
  { store, clock }: Pick<Place, 'store' | 'clock'>,
  given: {
    readonly directory: string;
    readonly harness: Harness;
    readonly ids: Ids;
    readonly conductor: () => SessionConductor;
  },
): Sessions => {
  const { directory, harness, ids, conductor } = given;
  return createSessions({
    ...{ store, clock, ids, conductor, attachments: join(directory, 'attachments'), checkModel: () => undefined },
    admit: async ({ mode = 'ask', unattended = 'wait', budgetUsd = null, maxTurns = null }) => ({
      ...{ unattended, egress: [] },
      ...{ harness: 'talker', model: null, effort: null, mode, agent: null, budget_usd: budgetUsd, max_turns: maxTurns },
    }),
    ...still,
    refuseAttached: async () => undefined,
    openInteractions: (id) => countOpen(store.read, id),
    abilities: () => abilities,
    forkOf: () => harness.session?.capabilities.fork ?? 'record',
    accountLimit: ({ model }) => limitOf(store.read, accountOf(harness, model), clock.nowMs()),
    changedFiles: async () => ['M made.txt'],
    usageOf: (id) => createUsage({ store }).ofTask(id),
    checkRoom: () => undefined,
  });
};
