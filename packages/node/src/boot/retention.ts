import type { Config } from '../config/config.ts';
import type { Environments } from '../environment/index.ts';
import { RETENTION_MS } from '../kernel/limits.ts';
import { errorFields, type Log } from '../kernel/log.ts';
import { dropConversations } from '../run/conversation.ts';
import type { Workspace } from '../workspace/index.ts';
import { clock } from './parts.ts';

export type RetentionParts = {
  readonly workspace: Pick<Workspace, 'reclaim' | 'reclaimSetups'>;
  readonly environments: Pick<Environments, 'prune'>;
  readonly config: Pick<Config, 'current'>;
  readonly log: Pick<Log, 'warn'>;
  readonly conversationsDirectory: string;
  /** Removes files that were given to sessions and that nobody names. */
  readonly sweepAttachments: () => Promise<number>;
  /** Removes what nobody asks for any more of sessions, and of those that ended, up to an instant. */
  readonly pruneSessions: (beforeMs: number) => Promise<unknown>;
};

const DAY_MS = 86_400_000;

/**
 * What is kept for some days goes after them, once at the start and then every hour, by the days that are configured then.
 * Environments go by themselves only where the operator said after how long. Answers how to stop that.
 */
export const cleanHourly = ({
  workspace,
  environments,
  config,
  log,
  conversationsDirectory,
  sweepAttachments,
  pruneSessions,
}: RetentionParts): (() => void) => {
  const clean = (): void => {
    const { asideDays, conversationDays, environmentDays, sessionDays } = config.current().retention;
    const work = [
      workspace.reclaim({ dryRun: false, days: asideDays }),
      workspace.reclaimSetups(),
      sweepAttachments(),
      pruneSessions(clock.nowMs() - sessionDays * DAY_MS),
      dropConversations(conversationsDirectory, clock.nowMs() - conversationDays * DAY_MS),
      ...(environmentDays === null ? [] : [environments.prune({ dryRun: false, actor: 'node' })]),
    ];
    for (const one of work) one.catch((thrown: unknown) => log.warn('retention.failed', errorFields(thrown)));
  };
  clean();
  const timer = setInterval(clean, RETENTION_MS);
  return () => clearInterval(timer);
};
