// Which field of a form a failure is about: what the node's answer names (an issue of the input, the key that asks for more
// than the operator allows), else what its code is about.

import { OrreryError, type ErrorCode } from '@orrery/protocol/errors';

/** Fields of a form, each with the codes that are about it. */
export type Fields = Readonly<Record<string, readonly ErrorCode[]>>;

/** The field that a failure is about; null: all of the form. */
export const fieldOf = (thrown: unknown, fields: Fields): string | null => {
  if (!(thrown instanceof OrreryError)) return null;
  const issues: unknown = thrown.details?.['issues'];
  const first: unknown = Array.isArray(issues) ? issues[0] : undefined;
  const path = typeof first === 'object' && first !== null && 'path' in first && typeof first.path === 'string' ? first.path : '';
  const key: unknown = thrown.details?.['key'];
  const named = path === '' && typeof key === 'string' ? key : (path.split('.')[0] ?? '');
  if (Object.hasOwn(fields, named)) return named;
  return Object.keys(fields).find((field) => fields[field]?.includes(thrown.code)) ?? null;
};

/** What stands at a field; `null` for what is about all of the form. */
export const errorsAt = (thrown: unknown, fields: Fields) => {
  const at = thrown === null ? null : fieldOf(thrown, fields);
  return (field: string | null): unknown => (thrown !== null && at === field ? thrown : null);
};
