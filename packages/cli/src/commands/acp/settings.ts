// What of a session an editor can set: the mode. A program's modes are those that it can keep.
import type { SessionConfigOption, SessionModeState, SessionUpdate } from '@agentclientprotocol/sdk';
import { permissionMode, type HarnessView, type PermissionMode, type SessionView } from '@orrery/protocol';
import { refused } from './refusal.ts';

const described: Readonly<Record<PermissionMode, { readonly name: string; readonly description: string }>> = {
  ask: { name: 'Ask', description: 'Asks before it runs a command or changes a file' },
  edits: { name: 'Edits', description: 'Changes files of its checkout without asking' },
  all: { name: 'All', description: 'Does everything that the walls of its environment allow' },
  plan: { name: 'Plan', description: 'Plans only' },
};

const modesOf = (harness: HarnessView | null, current: PermissionMode): PermissionMode[] => {
  const able = harness?.capabilities['sessions'];
  const list = Array.isArray(able) ? able : [];
  return permissionMode.options.filter((mode) => mode === current || list.includes(`mode ${mode}`));
};

export type Settings = { readonly modes: SessionModeState; readonly configOptions: SessionConfigOption[] };

/** Modes and options of a session, in both forms that editors know. */
export const settingsOf = (session: SessionView, harness: HarnessView | null): Settings => {
  const modes = modesOf(harness, session.mode).map((id) => ({ id, ...described[id] }));
  const options = modes.map(({ id, name, description }) => ({ value: id, name, description }));
  return {
    modes: { currentModeId: session.mode, availableModes: modes },
    configOptions: [{ id: MODE, name: 'Mode', category: 'mode', type: 'select', currentValue: session.mode, options }],
  };
};

export const MODE = 'mode';

/** What an editor is told when a session was renamed, or given another mode. */
export const settingsUpdates = (session: SessionView, harness: HarnessView | null): SessionUpdate[] => [
  { sessionUpdate: 'current_mode_update', currentModeId: session.mode },
  { sessionUpdate: 'config_option_update', configOptions: settingsOf(session, harness).configOptions },
  { sessionUpdate: 'session_info_update', title: session.title, updatedAt: session.changedAt },
];

/** The mode of a name. @throws OrreryError for any other */
export const modeOf = (given: unknown): PermissionMode => {
  const { data } = permissionMode.safeParse(given);
  if (data === undefined) throw refused('There is no such mode.', `Modes are ${permissionMode.options.join(', ')}.`);
  return data;
};
