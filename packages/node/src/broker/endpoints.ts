// Which requests of a provider's API the gateway passes: model calls and what programs ask beside them, nothing that
// reads or changes the account.

import type { WireName } from './model.ts';

/** A request that is passed. `call` is null where no tokens are spent. */
export type Endpoint = { readonly call: WireName | null; readonly modelInPath: string | null };

type Rule = { readonly method: 'GET' | 'POST'; readonly path: RegExp; readonly call: WireName | null };

const RULES: readonly Rule[] = [
  { method: 'POST', path: /^(?:\/v1)?\/messages$/, call: 'anthropic' },
  { method: 'POST', path: /^(?:\/v1)?\/messages\/count_tokens$/, call: null },
  { method: 'POST', path: /^(?:\/v1)?\/responses(?:\/compact)?$/, call: 'responses' },
  { method: 'POST', path: /^(?:\/v1)?\/chat\/completions$/, call: 'chat' },
  {
    method: 'POST',
    path: /^\/v1(?:beta|alpha)?\/models\/([A-Za-z0-9._-]+):(?:streamGenerateContent|generateContent)$/,
    call: 'gemini',
  },
  { method: 'POST', path: /^\/v1(?:beta|alpha)?\/models\/([A-Za-z0-9._-]+):countTokens$/, call: null },
  { method: 'GET', path: /^(?:\/v1(?:beta|alpha)?)?\/models(?:\/[A-Za-z0-9._:-]+)?$/, call: null },
];

/** The rule for a request below `/models/<provider>`, or null: such a request is refused. */
export const endpointOf = (method: string, path: string): Endpoint | null => {
  for (const rule of RULES) {
    const match = rule.method === method ? rule.path.exec(path) : null;
    if (match !== null) return { call: rule.call, modelInPath: match[1] ?? null };
  }
  return null;
};

/** The form in which errors are said on a path, so that the program shows them; by its provider where the path tells nothing. */
export const errorWireOf = (path: string, provider: string): WireName => {
  if (path.includes('/messages')) return 'anthropic';
  if (path.includes('/responses')) return 'responses';
  if (path.includes('/chat/')) return 'chat';
  if (/\/models\/[^/]+:/.test(path)) return 'gemini';
  return provider === 'anthropic' ? 'anthropic' : provider === 'google' ? 'gemini' : 'chat';
};
