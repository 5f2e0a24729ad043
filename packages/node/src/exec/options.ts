import { OrreryError, closest } from '@orrery/protocol/errors';
import { z } from 'zod';
import { BROKER_HOLD_MAX, BROKER_HOLD_MS } from './limits.ts';

/** Options every backend with a broker front has. */
export const frontOptions = {
  brokerHoldMs: z
    .int()
    .min(0)
    .max(3_600_000)
    .default(BROKER_HOLD_MS)
    .describe('How long a new connection waits while the node restarts, ms'),
  brokerHoldMax: z.int().min(0).max(1024).default(BROKER_HOLD_MAX).describe('How many connections may wait'),
};

/**
 * `execution.options.<backend>` by its schema. A key it does not have is `unknown_key` with a guess; a wrong value is
 * `config_invalid` with its place.
 */
export const parseBackendOptions = <T extends z.ZodObject>(backend: string, schema: T, options: unknown): z.output<T> => {
  const parsed = schema.safeParse(options ?? {});
  if (parsed.success) return parsed.data;
  const known = Object.keys(schema.shape);
  const issue = parsed.error.issues[0]!;
  const rule = `Options of ${backend}: ${known.join(', ')}.`;
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const guess = closest(key, known);
    throw new OrreryError('unknown_key', `execution.options.${backend} has no key "${key}".`, {
      rule,
      fix: guess === null ? 'Take it out.' : `Did you mean "${guess}"?`,
    });
  }
  throw new OrreryError('config_invalid', `execution.options.${[backend, ...issue.path].join('.')}: ${issue.message}.`, { rule });
};

/** Throws `unknown_key` for a key of an earlier version, naming what says the same for all backends now. */
export const refuseMoved = (backend: string, options: unknown, moved: Readonly<Record<string, string>>): void => {
  const found = Object.entries(moved).find(([key]) => Object.hasOwn(Object(options ?? {}) as object, key));
  if (found === undefined) return;
  const [key, now] = found;
  throw new OrreryError('unknown_key', `execution.options.${backend} has no key "${key}" any more.`, {
    rule: `${now} says the same, for all backends.`,
    fix: `Take it out, and write what it held into ${now}: orrery config path`,
  });
};
