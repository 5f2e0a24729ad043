import { initial } from './001-initial.ts';
import { namedEnvironments } from './002-named-environments.ts';
import { repositoryChange } from './003-repository-change.ts';
import { taskWaits } from './004-task-waits.ts';
import { sessions } from './005-sessions.ts';
import { sessionContent } from './006-session-content.ts';
import { transcripts } from './007-transcripts.ts';
import { sessionDetails } from './008-session-details.ts';
import { answers } from './009-answers.ts';
import { sessionAgent } from './010-session-agent.ts';
import { heldQueues } from './011-held-queues.ts';
import { sessionHistory } from './012-session-history.ts';
import { sessionTombstones } from './013-session-tombstones.ts';
import { accountLimits } from './014-account-limits.ts';
import { sessionBudgets } from './015-session-budgets.ts';
import { sessionTitles } from './016-session-titles.ts';
import { conversationBegun } from './017-conversation-begun.ts';
import { taskAgent } from './018-task-agent.ts';
import { sessionLease } from './019-session-lease.ts';
import { environmentEgress } from './020-environment-egress.ts';
import { attachedSessions } from './021-attached-sessions.ts';
import { pullRequests } from './022-pull-requests.ts';
import { environmentImage } from './023-environment-image.ts';
import type { Migration } from './migration.ts';

export type { Migration } from './migration.ts';

/** Every step in order. */
export const migrations: readonly Migration[] = [
  initial,
  namedEnvironments,
  repositoryChange,
  taskWaits,
  sessions,
  sessionContent,
  transcripts,
  sessionDetails,
  answers,
  sessionAgent,
  heldQueues,
  sessionHistory,
  sessionTombstones,
  accountLimits,
  sessionBudgets,
  sessionTitles,
  conversationBegun,
  taskAgent,
  sessionLease,
  environmentEgress,
  attachedSessions,
  pullRequests,
  environmentImage,
];
