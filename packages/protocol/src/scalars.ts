import { z } from 'zod';

/** An instant, RFC 3339 in UTC with milliseconds. */
export const instant = z.iso.datetime();

/** A duration in whole milliseconds. */
export const durationMs = z.int().min(0);

/** Money in US dollars; unknown cost is null, never 0. */
export const usd = z.number().min(0);

/** A client-made request id. */
export const requestId = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:@/+=-]*$/, 'letters, digits and . _ : @ / + = - only, beginning with a letter or digit');

/** A name that may become part of a path or a ref: no separators, no leading dot or dash. */
export const safeName = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/, 'letters, digits and . _ - only, beginning with a letter or digit')
  .refine((name) => !name.endsWith('.lock') && !name.includes('..'), 'may not hold ".." or end in ".lock"');

/** One page of a list, and the node `seq` at which it is true. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({ items: z.array(item), nextCursor: z.string().nullable(), seq: z.int() });

/** Query of every list. */
export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(200).optional(),
});

/** The name of an image, with its registry, tag or digest. */
export const imageName = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/, 'the name of an image, with its registry, tag or digest');
