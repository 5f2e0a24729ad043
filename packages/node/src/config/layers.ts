import { closest, OrreryError } from '@orrery/protocol/errors';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';

/** One key of a schema that holds a value of its own. */
export type Leaf = {
  readonly key: string;
  readonly path: readonly string[];
  readonly schema: z.ZodType;
  readonly description: string;
};

/** One source of values: a file, the environment, the command line. Later layers shadow earlier ones. */
export type Layer = {
  readonly values: unknown;
  /** What `explain` calls the place of a key. */ readonly originOf: (path: readonly string[]) => string;
};

/** A value and the place it comes from. */
export type Sourced = { readonly origin: string; readonly value: unknown };

/** The keys of an object schema, objects in it opened; lists and maps are one key. */
export const leavesOf = (schema: z.ZodType, path: readonly string[] = []): Leaf[] => {
  const object = objectOf(schema);
  if (object === null) return [{ key: path.join('.'), path, schema, description: schema.description ?? '' }];
  return Object.entries(object.shape).flatMap(([name, child]) => leavesOf(child as z.ZodType, [...path, name]));
};

const objectOf = (schema: z.ZodType): z.ZodObject | null => {
  if (schema instanceof z.ZodObject) return schema;
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) return objectOf(schema.unwrap() as z.ZodType);
  return null;
};

/** The value at a path of plain data; undefined where there is none. */
export const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Record<string, unknown>)[key] : undefined,
    value,
  );

/** Sets a value at a path, making the objects on the way. */
export const setAt = (target: Record<string, unknown>, path: readonly string[], value: unknown): void => {
  let at = target;
  for (const key of path.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
  at[path.at(-1)!] = value;
};

/** Every layer's value of a path, the one that holds first. */
export const sourcesOf = (layers: readonly Layer[], path: readonly string[]): Sourced[] =>
  layers.toReversed().flatMap((layer) => {
    const value = valueAt(layer.values, path);
    return value === undefined ? [] : [{ origin: layer.originOf(path), value }];
  });

/** The plain data that the layers come to. */
export const mergeLayers = (layers: readonly Layer[], leaves: readonly Leaf[]): Record<string, unknown> => {
  const merged: Record<string, unknown> = {};
  for (const { path } of leaves) {
    const top = sourcesOf(layers, path)[0];
    if (top !== undefined) setAt(merged, path, top.value);
  }
  return merged;
};

/** `queue.perProject` → `ORRERY_QUEUE_PER_PROJECT`. */
export const variableOf = (key: string): string => `ORRERY_${key.replaceAll(/[A-Z]/g, '_$&').replaceAll('.', '_').toUpperCase()}`;

/** The values of the environment. A text is taken as it is where a text belongs, else read as YAML: `3`, `false`, `[a, b]`. */
export const environmentLayer = (env: Readonly<Record<string, string | undefined>>, leaves: readonly Leaf[]): Layer => {
  const values: Record<string, unknown> = {};
  for (const { key, path, schema } of leaves) {
    const text = env[variableOf(key)];
    if (text !== undefined && text !== '') setAt(values, path, readVariable(text, { key, schema }));
  }
  return { values, originOf: (path) => `environment ${variableOf(path.join('.'))}` };
};

const readVariable = (text: string, { key, schema }: { key: string; schema: z.ZodType }): unknown => {
  for (const candidate of [text, yamlOrText(text), text.split(',').map((item) => item.trim())]) {
    if (schema.safeParse(candidate).success) return candidate;
  }
  throw new OrreryError('config_invalid', `The variable ${variableOf(key)} is not a value of "${key}".`, {
    rule: 'Lists are written a,b or [a, b]; switches true or false.',
    fix: `orrery config explain ${key}`,
  });
};

const yamlOrText = (text: string): unknown => {
  try {
    return parseYaml(text);
  } catch {
    return text;
  }
};

/** Values of the command line, by dotted key. A key that is none is a mistake of the program and throws. */
export const flagLayer = (flags: Readonly<Record<string, unknown>>, leaves: readonly Leaf[]): Layer => {
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const leaf = findLeaf(leaves, key);
    if (!leaf.schema.safeParse(value).success)
      throw new OrreryError('config_invalid', `The option for "${key}" has no value of it.`, {
        fix: `orrery config explain ${key}`,
      });
    setAt(values, leaf.path, value);
  }
  return { values, originOf: () => 'command line' };
};

/** The key of a dotted name, or the map that it lies in. Throws `unknown_key` with a guess, or with the keys of a group. */
export const findLeaf = (leaves: readonly Leaf[], key: string): Leaf => {
  const found = leaves.find((leaf) => leaf.key === key || key.startsWith(`${leaf.key}.`));
  if (found !== undefined) return found;
  const group = leaves.filter((leaf) => leaf.key.startsWith(`${key}.`)).map((leaf) => leaf.key);
  const guess = closest(
    key,
    leaves.map((leaf) => leaf.key),
  );
  if (group.length > 0)
    throw new OrreryError('unknown_key', `"${key}" is a group of keys.`, {
      rule: `It has ${group.join(', ')}.`,
      fix: `orrery config explain ${group[0]}`,
    });
  throw new OrreryError('unknown_key', `There is no configuration key "${key.slice(0, 100)}".`, {
    rule: `The keys are ${leaves.map((leaf) => leaf.key).join(', ')}.`,
    fix: guess === null ? 'orrery config schema' : `orrery config explain ${guess}`,
  });
};
