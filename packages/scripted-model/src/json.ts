/** A JSON object whose members are not known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value as an object, or an empty one: outside text may be anything. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value as a list, or an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a string, or the given one. */
export function asString(value: unknown, otherwise = ''): string {
  return typeof value === 'string' ? value : otherwise;
}

/** True for an object that is neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
