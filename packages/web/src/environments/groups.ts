// Where an environment stands among the others: what needs a person first, then where something is done, then the rest.

import type { EnvironmentView, SessionView } from '@orrery/protocol';

export const groupNames = ['needs attention', 'running', 'idle'] as const;
export type GroupName = (typeof groupNames)[number];

/** An environment, who uses it, and why it needs a person. */
export type Used = {
  readonly environment: EnvironmentView;
  readonly sessions: readonly SessionView[];
  readonly group: GroupName;
  /** Null: it needs nobody. */
  readonly why: string | null;
};

/** Sessions that have not ended, by their environment. */
const openIn = (environment: EnvironmentView, sessions: readonly SessionView[]): readonly SessionView[] =>
  sessions.filter((session) => session.environment.id === environment.id && session.state !== 'ended');

const whyAttention = ({ state, reason, setup }: EnvironmentView, sessions: readonly SessionView[]): string | null => {
  if (setup.state === 'failed') return setup.reason ?? 'its set-up failed';
  if (state === 'failed') return reason ?? 'it failed';
  const asking = sessions.filter(({ interactions }) => interactions > 0);
  if (asking.length > 0) return `${asking.map(({ name }) => name).join(', ')} asks something`;
  const failed = sessions.filter((session) => session.state === 'failed');
  return failed.length > 0 ? `${failed.map(({ name }) => name).join(', ')} failed` : null;
};

const isWorkedIn = ({ operation, taskId, state }: EnvironmentView, sessions: readonly SessionView[]): boolean =>
  operation !== null ||
  taskId !== null ||
  ['creating', 'setting-up', 'deleting'].includes(state) ||
  sessions.some((session) => session.turn !== null || session.state === 'starting');

export const usedBy = (environment: EnvironmentView, sessions: readonly SessionView[]): Used => {
  const mine = openIn(environment, sessions);
  const why = whyAttention(environment, mine);
  const group = why !== null ? 'needs attention' : isWorkedIn(environment, mine) ? 'running' : 'idle';
  return { environment, sessions: mine, group, why };
};

/** In their groups; groups without any are left out. The one used last stands first. */
export const inGroups = (all: readonly Used[]): readonly { readonly name: GroupName; readonly items: readonly Used[] }[] =>
  groupNames
    .map((name) => ({
      name,
      items: all
        .filter(({ group }) => group === name)
        .toSorted((one, other) => other.environment.usedAt.localeCompare(one.environment.usedAt)),
    }))
    .filter(({ items }) => items.length > 0);
