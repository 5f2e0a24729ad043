// Glossary. A benchmark compares what the product does with the bare thing, taken in turns in one run: its ratios hold on
// a slow or busy machine too, its times do not. A goal is told beside a row; missing one fails nothing.

/** What repeated measurements say: the middle, and where nine of ten lie. */
export type Spread = { readonly median: number; readonly low: number; readonly high: number; readonly count: number };

/** One line of a report. */
export type Row = {
  readonly what: string;
  readonly unit: 'ms' | 'MiB' | 'MB/s' | 'events/s';
  readonly ours: Spread;
  readonly bare: Spread;
  /** What `bare` is. */
  readonly against: string;
  readonly goal: Goal | null;
};

/** A goal of the requirements, and whether this run reached it. */
export type Goal = { readonly text: string; readonly met: boolean };

/** What one benchmark found. Notes are facts that are no ratio, for example where the time went. */
export type Report = { readonly rows: readonly Row[]; readonly notes: readonly string[] };

/** How a benchmark is run. `directory` is its own, empty, and removed afterwards. */
export type BenchmarkOptions = { readonly directory: string; readonly rounds: number };

/** One benchmark. `rounds` is how often it repeats when nobody says otherwise. */
export type Benchmark = {
  readonly name: string;
  readonly title: string;
  readonly rounds: number;
  run(options: BenchmarkOptions): Promise<Report>;
};

/** Median, and the values that a tenth lies below and above. Needs at least one sample. */
export const spreadOf = (samples: readonly number[]): Spread => {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
  return { median: at(0.5), low: at(0.1), high: at(0.9), count: sorted.length };
};

/** How many times the bare value ours is. */
export const ratioOf = ({ ours, bare }: Row): number => ours.median / bare.median;

/** How much more than the bare value ours is. */
export const overOf = ({ ours, bare }: Row): number => ours.median - bare.median;

/** Sets a goal by what is over the bare value. */
export const atMostOver = (row: Omit<Row, 'goal'>, limit: number): Row => ({
  ...row,
  goal: { text: `≤ ${limit} ${row.unit} over`, met: row.ours.median - row.bare.median <= limit },
});

/** Sets a goal by the ratio. */
export const atMostTimes = (row: Omit<Row, 'goal'>, limit: number): Row => ({
  ...row,
  goal: { text: `≤ ${limit} ×`, met: row.ours.median / row.bare.median <= limit },
});

/** Sets a goal by the value itself. */
export const within = (row: Omit<Row, 'goal'>, bound: { readonly least: number } | { readonly below: number }): Row => ({
  ...row,
  goal:
    'least' in bound
      ? { text: `≥ ${bound.least.toLocaleString('en')} ${row.unit}`, met: row.ours.median >= bound.least }
      : { text: `< ${bound.below.toLocaleString('en')} ${row.unit}`, met: row.ours.median < bound.below },
});

/** Milliseconds that some work takes. */
export const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const from = performance.now();
  await work();
  return performance.now() - from;
};

type Cases = Readonly<Record<string, () => Promise<unknown>>>;

/** The samples of each case. */
export type Samples<Of extends Cases> = { [Name in keyof Of]: Awaited<ReturnType<Of[Name]>>[] };

/** Runs every case once in each round, the first round unrecorded; answers the samples of each. */
export const takeTurns = async <Of extends Cases>(rounds: number, cases: Of): Promise<Samples<Of>> => {
  const names: (keyof Of)[] = Object.keys(cases);
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Samples<Of>;
  for (let round = 0; round <= rounds; round++)
    for (const name of names) {
      const sample = (await cases[name]!()) as Samples<Of>[keyof Of][number];
      if (round > 0) samples[name].push(sample);
    }
  return samples;
};
