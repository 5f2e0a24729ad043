// Glossary. The broker holds the credentials and acts for agents. A token opens one door of it for one environment: a run
// token the model gateway, an egress token the proxy. A grant is what the token allows. A provider is who answers model
// calls; a wire is the form of its requests and answers.

/** One rule of the egress proxy that the operator gave while the environment was open. */
export type LiveRule = { readonly rule: string; readonly decision: 'allow' | 'deny' };

/** What a token of one environment allows. */
export type Grants = {
  /** Models that may be called (`model` or `provider/model`); null: any. */
  readonly models: readonly string[] | null;
  /** Bound for all model calls of the task, in US dollars; null: none. */
  readonly budgetUsd: number | null;
  /** Hosts behind the egress proxy: `host`, `*.host`, each with `:port` or without (then 80 and 443). */
  readonly egress: readonly string[];
  /** What the operator changed of it since, one entry for each rule; absent: nothing. */
  readonly live?: readonly LiveRule[];
  /** Provider that answers every model call in place of the one the program names; absent or null: as named. */
  readonly upstream?: string | null;
  /** Harness whose program calls, so that a login of it pays; absent or null: the provider's key. */
  readonly harness?: string | null;
  /** MCP servers of the operator that may be called, by name; absent: none. */
  readonly mcp?: readonly string[];
};

export type TokenKind = 'run' | 'egress';

/** Who stands behind a token. */
export type TokenIdentity = {
  readonly environmentId: string;
  readonly taskId: string;
  readonly kind: TokenKind;
  readonly grants: Grants;
};

export type WireName = 'anthropic' | 'responses' | 'chat' | 'gemini';

/** Tokens of one model call. `inputTokens` counts all input, cached parts included; `outputTokens` all output, reasoning included. */
export type TokenCounts = {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Input read from the provider's cache. */
  readonly cachedTokens: number;
  /** Input written to the provider's cache. */
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
};

/** What a provider said about its limits in the headers of one answer. */
export type LimitReport = {
  readonly provider: string;
  readonly environmentId: string;
  readonly atMs: number;
  readonly retryAfterMs: number | null;
  readonly windows: readonly LimitWindow[];
};

export type LimitWindow = {
  readonly name: string;
  readonly usedPercent: number | null;
  readonly resetsAt: string | null;
  readonly exhausted: boolean;
};

/** US dollars for a million tokens. */
export type Rates = { readonly input: number; readonly output: number; readonly cacheRead: number; readonly cacheWrite: number };

export type Price = {
  readonly provider: string;
  readonly model: string;
  /** First day (UTC, `YYYY-MM-DD`) of this price; null: always. */
  readonly from: string | null;
  readonly rates: Rates;
  /** Dearer rates for calls with more input than this. */
  readonly long: { readonly aboveInputTokens: number; readonly rates: Rates } | null;
};
