// The one catalogue of failures: code → HTTP status, JSON-RPC code, exit code, retryable. Free of imports, so that the
// command line can load it within its first milliseconds.

/** How one kind of failure looks on every door. */
export type ErrorKind = { readonly http: number; readonly jsonrpc: number; readonly exit: number; readonly retryable: boolean };

const kind = (http: number, jsonrpc: number, exit: number): ErrorKind => ({ http, jsonrpc, exit, retryable: false });

/** A failure that may pass when the same is tried again later. */
const passing = (http: number, jsonrpc: number, exit: number): ErrorKind => ({ http, jsonrpc, exit, retryable: true });

export const errorCatalogue = {
  // what the caller said
  invalid_input: kind(400, -32602, 2),
  unknown_key: kind(400, -32602, 2),
  unknown_name: kind(400, -32602, 2),
  unknown_command: kind(404, -32601, 2),
  unknown_option: kind(400, -32602, 2),
  empty_input: kind(400, -32602, 2),
  input_too_large: kind(413, -32001, 2),
  unsupported_media_type: kind(415, -32600, 2),
  config_invalid: kind(400, -32602, 2),
  widening_refused: kind(403, -32002, 10),
  // finding things
  not_found: kind(404, -32004, 3),
  ambiguous: kind(409, -32004, 3),
  history_expired: kind(410, -32005, 3),
  cursor_expired: kind(410, -32005, 8),
  // who is asking, and whether anyone answers
  unauthenticated: kind(401, -32010, 4),
  forbidden: kind(403, -32011, 4),
  node_not_running: passing(503, -32012, 4),
  node_unreachable: passing(503, -32012, 4),
  node_mismatch: kind(409, -32013, 4),
  answer_invalid: kind(502, -32015, 4),
  rate_limited: passing(429, -32014, 8),
  // time and people
  deadline: passing(504, -32020, 5),
  interaction_required: kind(409, -32021, 6),
  outcome_unknown: kind(409, -32022, 7),
  stopped_watching: kind(409, -32023, 130),
  // state of things
  conflict: kind(409, -32030, 8),
  request_conflict: kind(409, -32031, 8),
  stale: kind(409, -32032, 8),
  busy: passing(409, -32033, 8),
  unsupported: kind(409, -32034, 8),
  not_empty: kind(409, -32035, 8),
  queue_full: passing(429, -32036, 8),
  node_already_running: kind(409, -32037, 8),
  node_draining: passing(503, -32038, 8),
  close_pending: passing(503, -32039, 8),
  // work
  rejected: kind(409, -32040, 9),
  refused_by_policy: kind(403, -32041, 10),
  backend_forbidden: kind(403, -32042, 10),
  guarantee_missing: kind(503, -32043, 10),
  budget_exhausted: kind(402, -32044, 10),
  limit_reached: kind(429, -32045, 10),
  backend_unavailable: kind(503, -32046, 1),
  backend_unreachable: passing(503, -32046, 1),
  harness_not_installed: kind(409, -32047, 1),
  hook_failed: kind(409, -32048, 1),
  agent_failed: kind(409, -32049, 1),
  // repositories and files
  repository_unusable: kind(409, -32050, 8),
  git_failed: kind(500, -32051, 1),
  unsaved_work: kind(409, -32052, 8),
  git_limit: kind(413, -32058, 10),
  dirty_tree: kind(409, -32053, 8),
  path_refused: kind(403, -32054, 10),
  merge_conflict: kind(409, -32055, 8),
  // code hosts
  codehost_refused: kind(409, -32070, 8),
  codehost_unreachable: passing(503, -32071, 1),
  // logins of agent programs
  login_failed: kind(409, -32072, 4),
  login_unreachable: passing(503, -32073, 4),
  // the node itself
  disk_full: passing(507, -32060, 1),
  schema_newer: kind(500, -32061, 1),
  store_damaged: kind(500, -32062, 1),
  keeper_lost: passing(500, -32063, 1),
  internal: kind(500, -32603, 1),
} as const satisfies Record<string, ErrorKind>;

/** A code of the catalogue. */
export type ErrorCode = keyof typeof errorCatalogue;

/** The three lines of an error, and what machines need beside them. */
export type ErrorBody = {
  readonly code: ErrorCode;
  /** What failed. */
  readonly message: string;
  /** The rule behind it. */
  readonly rule: string | null;
  /** The next step; what can be pasted comes last. */
  readonly fix: string | null;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>> | null;
};

/** What an `OrreryError` is made of; only the code and the message are needed. */
export type ErrorParts = {
  readonly rule?: string;
  readonly fix?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
};

/** The one failure type of Orrery. Its texts never hold secrets, prompts or file contents. */
export class OrreryError extends Error {
  readonly code: ErrorCode;
  readonly rule: string | null;
  readonly fix: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;

  constructor(code: ErrorCode, message: string, parts: ErrorParts = {}) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.name = 'OrreryError';
    this.code = code;
    this.rule = parts.rule ?? null;
    this.fix = parts.fix ?? null;
    this.details = parts.details ?? null;
  }

  get kind(): ErrorKind {
    return errorCatalogue[this.code];
  }

  /** The wire form. */
  toBody(): ErrorBody {
    const { code, message, rule, fix, details } = this;
    return { code, message, rule, fix, retryable: this.kind.retryable, details };
  }

  /** The three lines for a person: what failed, the rule, the fix. Absent lines are left out. */
  toLines(): string[] {
    return [this.message, this.rule, this.fix].filter((line): line is string => line !== null);
  }
}

/** Turns anything thrown into an `OrreryError`; what is not one becomes `internal` with the original as its cause. */
export const toOrreryError = (thrown: unknown): OrreryError => {
  if (thrown instanceof OrreryError) return thrown;
  const code = errnoCode(thrown);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new OrreryError('disk_full', 'The disk is full.', {
      rule: 'Nothing is started or acknowledged that could not be stored.',
      fix: 'Free space on the disk of the data directory, then repeat the command.',
      cause: thrown,
    });
  }
  return new OrreryError('internal', 'Something failed inside the node that should not have.', {
    fix: 'Look at the node log: orrery doctor',
    cause: thrown,
  });
};

const errnoCode = (thrown: unknown): string | null =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null;

/** Reads an `ErrorBody` back, for example from an HTTP answer; an unknown code becomes `internal`. */
export const fromErrorBody = (body: Partial<ErrorBody> & { readonly message: string }): OrreryError => {
  const code = body.code !== undefined && body.code in errorCatalogue ? body.code : 'internal';
  return new OrreryError(code, body.message, {
    rule: body.rule ?? undefined,
    fix: body.fix ?? undefined,
    details: body.details ?? undefined,
  });
};

/** The word of a list that is closest to what was typed, or null: for "did you mean". */
export const closest = (typed: string, known: readonly string[]): string | null => {
  let best: { word: string; distance: number } | null = null;
  for (const word of known) {
    const distance = editDistance(typed.toLowerCase(), word.toLowerCase());
    if (best === null || distance < best.distance) best = { word, distance };
  }
  return best !== null && best.distance <= Math.max(2, Math.floor(typed.length / 3)) ? best.word : null;
};

const editDistance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? a.length;
};
