import { OrreryError } from '@orrery/protocol/errors';

/** The refusal of what would go beyond what the operator set; `key` is what asks for it. */
export const widening = (key: string, message: string, { rule, fix }: { rule: string; fix: string }): OrreryError =>
  new OrreryError('widening_refused', message, { rule, fix, details: { key } });
