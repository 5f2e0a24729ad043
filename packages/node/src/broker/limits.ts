// Limits of the broker, each with its reason.

/** A model request: the largest a provider takes is 32 MB. */
export const MODEL_REQUEST_BYTES = 32 * 1024 * 1024;
/** The part of a failed answer that is looked at to tell failures apart. */
export const ERROR_BODY_BYTES = 64 * 1024;
/** An answer that comes whole is read for its usage up to this size; one above passes but is not counted. */
export const WHOLE_ANSWER_BYTES = 32 * 1024 * 1024;
/** One event of a streamed answer; a longer one passes but is not counted. */
export const STREAM_LINE_BYTES = 16 * 1024 * 1024;
/** Header bytes of a request. */
export const HEADER_BYTES = 64 * 1024;
/** Model calls of one environment at once: sub-agents run in parallel, a loop must not take the whole node. */
export const MODEL_CALLS_PER_ENVIRONMENT = 64;
/** Requests of one environment to MCP servers at once: each server holds one open for what it has to say by itself. */
export const MCP_CALLS_PER_ENVIRONMENT = 32;
/** A request to an MCP server: what a model writes, and files in it. */
export const MCP_REQUEST_BYTES = 4 * 1024 * 1024;
/** A provider may be silent for a little longer than the programs bear themselves: they say more of it. */
export const PROVIDER_PATIENCE = 31 / 30;
/** How long a provider may be silent before the gateway ends the call, unless it is told. */
export const PROVIDER_QUIET_MS = 310_000;
/** How long connecting to a provider or host may take. */
export const CONNECT_MS = 15_000;
/** How long a program may take to send its request. */
export const REQUEST_MS = 300_000;
/** Proxied connections of one environment at once. */
export const EGRESS_PER_ENVIRONMENT = 128;
/** How long the resolver may take for one name. */
export const RESOLVE_MS = 15_000;
/** Rules that the operator may give one environment while it runs. */
export const LIVE_RULES = 200;
/** Hosts of one environment whose traffic is remembered for `orrery egress list`; the audit log has every request. */
export const EGRESS_HOSTS_REMEMBERED = 200;
/** Refused hosts that the log of one task names; a program that tries names in a loop must not fill it. */
export const EGRESS_REFUSALS_TOLD = 50;
/** How long a proxied connection may be silent in both directions. */
export const EGRESS_QUIET_MS = 10 * 60_000;
/** What a TLS client may send before its server name is known. */
export const CLIENT_HELLO_BYTES = 16 * 1024;
/** Connections to the broker at once, all environments together; the bounds below keep it from being reached. */
export const BROKER_CONNECTIONS = 4_096;
/** Connections that have shown no valid token yet: two programs' whole share. Whoever has a token shows it at once. */
export const UNPROVEN_CONNECTIONS = 512;
/** Connections of environments, all together: with those unproven and those that are just closing below the bound of the server. */
export const PROVEN_CONNECTIONS = 3_072;
/** Connections of one environment: its model calls and its proxied connections, and room for idle ones. */
export const ENVIRONMENT_CONNECTIONS = 256;
/** How long a program may take until the headers of a request have come, from connecting on. */
export const HEADERS_MS = 30_000;
/** How long a connection that was turned away may take to be told so. */
export const CLOSING_MS = 1_000;
/** The same refusal of the same token is written to the audit log once in this span. */
export const REFUSAL_AUDIT_MS = 60_000;
/** Tokens, tasks and failures remembered in memory; the oldest is read from the store again. */
export const REMEMBERED = 10_000;

/** Tokens of an answer to a question of the node itself; some models think in them first. */
export const ASKED_TOKENS = 4_000;
/** Bytes of such an answer with everything around it. */
export const ASKED_ANSWER_BYTES = 256 * 1024;
