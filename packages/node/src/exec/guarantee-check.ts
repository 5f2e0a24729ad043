import { OrreryError } from '@orrery/protocol/errors';
import type { GuaranteeReport, KeeperGuarantee } from '../keeper/types.ts';

/** Guarantees without which no agent is started unless someone says otherwise. */
export const DEFAULT_REQUIRED: readonly KeeperGuarantee[] = ['files', 'network', 'processes'];

/** Throws `guarantee_missing`, naming each required guarantee that is not held, why, and the ways on. */
export const checkGuarantees = (
  backend: string,
  reports: readonly GuaranteeReport[],
  required: readonly KeeperGuarantee[],
): void => {
  const missing = required.flatMap((name) => {
    const report = reports.find(({ guarantee }) => guarantee === name);
    if (report?.held === true) return [];
    return [{ guarantee: name, why: report?.missing ?? 'nothing on this machine gives it' }];
  });
  if (missing.length === 0) return;
  throw new OrreryError(
    'guarantee_missing',
    `${backend} cannot guarantee ${missing.map(({ guarantee, why }) => `${guarantee} (${why})`).join(', ')}.`,
    {
      rule: `Required here: ${required.join(', ')}. Nothing is started with less.`,
      fix:
        backend === 'local'
          ? 'Choose a backend that confines: orrery run --backend sandbox'
          : 'See what is missing: orrery selftest sandbox · Or take a backend that confines nothing: orrery run --backend local',
      details: { backend, missing },
    },
  );
};
