import { afterEach, beforeEach } from 'vitest';
import { createBench, type Bench, type Printed } from './fake-world.ts';
import { scenarios } from './scenarios.ts';

/** A bench for each test of a file: `set` begins with a scenario, `run` runs a command line. */
export const useBench = (): { readonly hold: { bench: Bench }; set(name: string): void; readonly run: Bench['run'] } => {
  const hold = { bench: undefined as unknown as Bench };
  beforeEach(async () => {
    hold.bench = await createBench();
  });
  afterEach(() => hold.bench.close());
  return { hold, set: (name) => scenarios[name]?.(hold.bench), run: (argv, wish) => hold.bench.run(argv, wish) };
};

/** The envelope that a command printed, after any JSON lines. */
export const envelopeOf = (printed: Printed): Record<string, unknown> =>
  JSON.parse(printed.stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
