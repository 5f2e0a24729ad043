// What happened to an input, from the lines of `DIR/input` alone (native/keeper/WIRE.md, "input journal").
import type { InputState } from './types.ts';

type Facts = { intent: boolean; done: boolean; failedAt: number | null; tried: boolean; did: number };

const take = (facts: Facts, verb: string, number: number): void => {
  if (verb === 'intent') facts.intent = true;
  else if (verb === 'done') facts.done = true;
  else if (verb === 'fail') facts.failedAt = number;
  else if (verb === 'try') facts.tried = true;
  else if (verb === 'did') facts.did = Math.max(facts.did, number);
};

/**
 * The state of `id` in a journal. `sameBoot`: the machine has not been restarted since; after a restart lines that were
 * not synced may be missing, so a bare intent is `partial` with 0 bytes. A torn last line is ignored.
 */
export const inputStateOf = (journal: string, id: string, sameBoot: boolean): InputState => {
  const facts: Facts = { intent: false, done: false, failedAt: null, tried: false, did: 0 };
  const whole = journal.slice(0, journal.lastIndexOf('\n') + 1);
  for (const line of whole.split('\n')) {
    const [verb, name, number] = line.split(' ');
    if (verb !== undefined && name === id) take(facts, verb, Number(number));
  }
  if (!facts.intent) return { state: 'unwritten' };
  if (facts.done) return { state: 'written' };
  if (facts.failedAt !== null) return facts.failedAt === 0 ? { state: 'unwritten' } : { state: 'partial', bytes: facts.failedAt };
  if (facts.tried || !sameBoot) return { state: 'partial', bytes: facts.did };
  return { state: 'unwritten' };
};
