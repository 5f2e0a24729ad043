import type { OrreryError } from '@orrery/protocol/errors';
import { envelopeVersion } from '@orrery/protocol/version';
import { exitOfError } from './exit.ts';
import type { Receipt } from './receipts.ts';

/** What `--json` prints: one of these, for success and failure alike. */
export type Envelope = {
  readonly schemaVersion: number;
  /** The command, as `task.add`. */
  readonly action: string;
  readonly ok: boolean;
  readonly node?: { readonly installationId: string; readonly generation: string };
  readonly result?: unknown;
  readonly error?: EnvelopeError;
  readonly receipt?: Receipt;
  readonly warnings?: readonly string[];
};

export type EnvelopeError = {
  readonly code: string;
  readonly message: string;
  readonly exitCode: number;
  readonly retryable: boolean;
  readonly rule: string | null;
  readonly fix: string | null;
  readonly details?: Readonly<Record<string, unknown>>;
};

/** What an envelope is made of. */
export type EnvelopeParts = {
  readonly action: string;
  readonly node: { readonly installationId: string; readonly generation: string } | null;
  readonly receipt: Receipt | null;
  readonly warnings: readonly string[];
};

const around = ({ action, node, receipt, warnings }: EnvelopeParts, ok: boolean): Envelope => ({
  schemaVersion: envelopeVersion,
  action,
  ok,
  ...(node === null ? {} : { node: { installationId: node.installationId, generation: node.generation } }),
  ...(receipt === null ? {} : { receipt }),
  ...(warnings.length === 0 ? {} : { warnings }),
});

export const resultEnvelope = (parts: EnvelopeParts, result: unknown): Envelope => ({ ...around(parts, true), result });

export const errorEnvelope = (parts: EnvelopeParts, error: OrreryError, exitCode = exitOfError(error.code)): Envelope => {
  const { code, message, retryable, rule, fix, details } = error.toBody();
  return {
    ...around(parts, false),
    error: { code, message, exitCode, retryable, rule, fix, ...(details === null ? {} : { details }) },
  };
};
