import type { Known } from './answer.tsx';

type Answers<Queries extends Readonly<Record<string, Known<unknown>>>> = {
  readonly [Name in keyof Queries]: NonNullable<Queries[Name]['data']>;
};

/** Several answers as one: there when all are, of the oldest moment, with the first failure. */
export const together = <Queries extends Readonly<Record<string, Known<unknown>>>>(queries: Queries): Known<Answers<Queries>> => {
  const all = Object.values(queries);
  return {
    data: all.some(({ data }) => data === undefined)
      ? undefined
      : (Object.fromEntries(Object.entries(queries).map(([name, { data }]) => [name, data])) as Answers<Queries>),
    error: all.find(({ error }) => error !== null)?.error ?? null,
    dataUpdatedAt: Math.min(...all.map(({ dataUpdatedAt }) => dataUpdatedAt)),
  };
};
