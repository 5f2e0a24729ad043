import type { Harness } from './harness.ts';
import { splitModel } from './model-name.ts';

/** What the model calls of a harness are paid by: the harness, and the provider that its model names. */
export const accountOf = (
  { id, provider, defaultModel }: Pick<Harness, 'id' | 'provider' | 'defaultModel'>,
  model: string | null,
): string => {
  const named = model ?? defaultModel;
  const own = provider ?? 'own';
  return `${id}/${named === null ? own : splitModel(named, own).provider}`;
};
