import { keptText } from '../agent/index.ts';
import { ATTACHED_LOOK_MS, createAttached, type Attached } from '../attached/index.ts';
import { errorFields } from '../kernel/log.ts';
import { openAgents } from './agents.ts';
import { clock, ids, type Parts } from './parts.ts';

/** People's own programs that ask this node for work. Agents are the user's own: a program is in no project of the node's. */
export const openAttached = (parts: Parts): Attached =>
  createAttached({
    store: parts.store,
    clock,
    ids,
    checkHarness: (harness) => void parts.harnesses.get(harness),
    keepAgent: async (name) => keptText(await openAgents(parts).find(name, null), []),
  });

/** Looks for those whose process is gone, as long as the node serves. Answers how to stop that. */
export const watchAttached = (attached: Attached, { log }: Pick<Parts, 'log'>): (() => Promise<void>) => {
  let looking: Promise<void> = Promise.resolve();
  const look = (): void => {
    looking = looking.then(() => attached.look()).catch((thrown: unknown) => log.warn('attached.unseen', errorFields(thrown)));
  };
  const timer = setInterval(look, ATTACHED_LOOK_MS);
  return () => {
    clearInterval(timer);
    return looking;
  };
};
