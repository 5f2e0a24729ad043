// Glossary. A login is an account of a program's maker (a subscription) that pays model calls in place of a key. The node
// keeps it and puts it on at the gateway, for the harness that it is of and no other; an agent never sees it.

import { z } from 'zod';

/** What is kept of a login, sealed. */
export const keptLogin = z.strictObject({
  version: z.literal(1),
  accessToken: z.string().min(1).max(16_384),
  /** Gets the next access token; null: there is none to get. */
  refreshToken: z.string().min(1).max(16_384).nullable(),
  /** When the access token ends, in ms; null: unknown. */
  expiresAtMs: z.int().nullable(),
  /** The account as its provider names it in calls; null: it does not. */
  accountId: z.string().max(200).nullable(),
  /** The account for people; null: unknown. */
  who: z.string().max(200).nullable(),
  /** Why it is of no use any more; null: it is. */
  ended: z.string().max(500).nullable(),
  keptAtMs: z.int(),
});
export type KeptLogin = z.output<typeof keptLogin>;

/** What a login newly got is, without the times that the node knows. */
export type NewLogin = Omit<KeptLogin, 'version' | 'ended' | 'keptAtMs'>;

/** Where a person goes on to let the node in, as the program said it. */
export type DevicePrompt = { readonly url: string; readonly code: string };

/** The program's own login by a code that is typed on any device, run with a home that holds nothing else. */
export type DeviceLogin = {
  /** Arguments of the program. `issuer`: who lets in, when it is not the usual one. */
  args(issuer: string | null): readonly string[];
  /** Its home folder is named by this variable, besides HOME. */
  readonly homeVariable: string;
  /** What it prints so far; null: not there yet. Pure. */
  prompt(printed: string): DevicePrompt | null;
  /** The file below its home that it leaves. */
  readonly file: string;
  /** Reads that file. @throws OrreryError login_failed */
  read(content: string): NewLogin;
  /** How long the code is good for. */
  readonly waitsMs: number;
};

/** One answer of who gives access tokens. */
export type RefreshCall = { readonly url: string; readonly body: Readonly<Record<string, string>> };

/** How calls are paid by a login of this program. */
export type HarnessLogin = {
  /** What kind of account, for people. */
  readonly account: string;
  /** The provider whose calls it pays. */
  readonly provider: string;
  /** Where those calls go, and who gives access tokens, unless the operator says otherwise. */
  readonly baseUrl: string;
  readonly issuer: string | null;
  /** Arguments with which the program prints a token for a person to hand over; absent: it does not. */
  readonly prints?: readonly string[];
  /** Reads such a token. @throws OrreryError invalid_input */
  readonly accept?: (token: string) => NewLogin;
  readonly device?: DeviceLogin;
  /** How the next access token is got. Absent: the one that there is lasts until it ends. */
  readonly refresh?: {
    call(kept: KeptLogin, issuer: string): RefreshCall;
    /** @throws OrreryError login_failed for an answer that has none */
    read(answer: unknown, before: KeptLogin): NewLogin;
  };
  /** The path of a call below `baseUrl`, from its path at the gateway; null: a login does not pay it. Pure. */
  path(path: string): string | null;
  /** Headers that a call gets, beside those of the program. Pure. */
  headers(kept: KeptLogin, of: Readonly<Record<string, unknown>>): Readonly<Record<string, string>>;
};
