// Where model calls go and with which credential. The key is asked for at each call and lives in no agent's reach.

import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';

/** How a provider wants its key. */
export type KeyStyle = 'x-api-key' | 'bearer' | 'x-goog-api-key' | 'none';

export type Provider = {
  readonly id: string;
  /** `http:` or `https:`, with a path when the API lies below one. With `socket`, only its path and host name count. */
  readonly baseUrl: URL;
  /** Path of a Unix socket to talk to instead of the host of `baseUrl`. */
  readonly socket: string | null;
  readonly keyStyle: KeyStyle;
  readonly headers: Readonly<Record<string, string>>;
  /** The key of now, or null when there is none. */
  key(): Promise<string | null>;
};

/** What pays a call in place of its provider's key, and where such calls go. */
export type Payment = {
  readonly baseUrl: URL;
  /** The path of a call below `baseUrl`; null: it is not paid by this. */
  path(path: string): string | null;
  headers(of: Readonly<Record<string, unknown>>): Readonly<Record<string, string>>;
  /** Told when the provider does not know who calls. */
  refused(): void;
};

/** Finds it for the program of a harness; null: the provider's key pays. @throws OrreryError login_failed, login_unreachable */
export type FindPayment = (asked: { readonly harness: string; readonly provider: string }) => Promise<Payment | null>;

/** Knows the providers of the node; asked at each call, so that a changed configuration holds at once. */
export type Providers = { readonly ids: () => readonly string[]; find(id: string): Provider | null };

/** One entry of `providers` in the configuration. */
export const providerSettings = z.strictObject({
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Where the API is; needed for a provider that Orrery does not know'),
  socket: z.string().startsWith('/').max(107).optional().describe('Unix socket of a provider on this machine'),
  keyStyle: z.enum(['x-api-key', 'bearer', 'x-goog-api-key', 'none']).optional().describe('How the key is sent'),
  key: z.string().max(200).optional().describe('secret:<name> of the key; the default is a secret with the name of the provider'),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9-]+$/), z.string().max(1000))
    .default({})
    .describe('Further headers; no secrets'),
});
export type ProviderSettings = z.input<typeof providerSettings>;

const KNOWN: Readonly<Record<string, { readonly baseUrl: string; readonly keyStyle: KeyStyle }>> = {
  anthropic: { baseUrl: 'https://api.anthropic.com', keyStyle: 'x-api-key' },
  openai: { baseUrl: 'https://api.openai.com', keyStyle: 'bearer' },
  google: { baseUrl: 'https://generativelanguage.googleapis.com', keyStyle: 'x-goog-api-key' },
};

const PROVIDER_ID = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Makes the providers of the configuration on top of the known ones. `readSecret` answers null for a secret that is not set. */
export const createProviders = (
  settings: Readonly<Record<string, ProviderSettings>>,
  readSecret: (name: string) => Promise<string | null>,
): Providers => {
  const providers = new Map<string, Provider>();
  for (const id of new Set([...Object.keys(KNOWN), ...Object.keys(settings)])) {
    providers.set(id, makeProvider(id, providerSettings.parse(settings[id] ?? {}), readSecret));
  }
  return { ids: () => [...providers.keys()], find: (id) => providers.get(id) ?? null };
};

const makeProvider = (
  id: string,
  given: z.output<typeof providerSettings>,
  readSecret: (name: string) => Promise<string | null>,
): Provider => {
  const known = Object.hasOwn(KNOWN, id) ? KNOWN[id] : undefined;
  const baseUrl = given.baseUrl ?? known?.baseUrl ?? (given.socket === undefined ? undefined : 'http://localhost');
  if (!PROVIDER_ID.test(id) || baseUrl === undefined) {
    throw new OrreryError('config_invalid', `The provider ${JSON.stringify(id.slice(0, 100))} is not complete.`, {
      rule: 'Its name is lower case letters, digits and . _ -, and one that Orrery does not know needs a baseUrl.',
      fix: `providers: { my-provider: { baseUrl: "https://models.example/api" } }`,
    });
  }
  const style = given.keyStyle ?? known?.keyStyle ?? 'bearer';
  const secret = secretName(id, given.key);
  return {
    id,
    baseUrl: new URL(baseUrl),
    socket: given.socket ?? null,
    keyStyle: style,
    headers: given.headers,
    key: () => (style === 'none' ? Promise.resolve(null) : readSecret(secret)),
  };
};

const secretName = (id: string, key: string | undefined): string => {
  if (key === undefined) return id;
  if (key.startsWith('secret:')) return key.slice('secret:'.length);
  throw new OrreryError('config_invalid', `The key of the provider ${id} is written into the configuration.`, {
    rule: 'Keys stand in the secrets store; the configuration names them.',
    fix: `orrery secret set ${id}, then key: secret:${id}`,
  });
};

/** The header that carries the key. */
export const keyHeader = (style: KeyStyle, key: string | null): Readonly<Record<string, string>> => {
  if (key === null) return {};
  switch (style) {
    case 'x-api-key':
      return { 'x-api-key': key };
    case 'x-goog-api-key':
      return { 'x-goog-api-key': key };
    case 'bearer':
      return { authorization: `Bearer ${key}` };
    case 'none':
      return {};
  }
};
