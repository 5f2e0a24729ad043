// What a session of Claude Code is told beside plain words, and what it says of its settings, its catalogue and commands
// of its own. Pure.

import { z } from 'zod';
import type { SessionCatalogue, SessionCommand, SessionFact } from '../dialogue.ts';
import type { Reported } from '../reported.ts';
import { saidLine, userLine } from './launch.ts';

/** Words with a leading slash are no command; a command is given as it is. */
export const promptLine = ({ text, action = 'say', images = [] }: Extract<SessionCommand, { kind: 'prompt' }>) => {
  if (action !== 'say') return userLine(text);
  const line = saidLine(text);
  const words = text === '' ? [] : line.message.content;
  const pictures = images.map(({ mediaType, base64 }) => ({
    type: 'image',
    source: { type: 'base64', media_type: mediaType, data: base64 },
  }));
  return { ...line, message: { ...line.message, content: [...words, ...pictures] } };
};

const reportedCatalogue = z.object({
  commands: z.array(z.object({ name: z.string(), description: z.string().catch('') })).catch([]),
  models: z
    .array(
      z.object({ value: z.string(), displayName: z.string().optional(), supportedEffortLevels: z.array(z.string()).catch([]) }),
    )
    .catch([]),
});

/** Models and commands, as it reported them. */
export const catalogueOf = (response: unknown): SessionCatalogue => {
  const { data } = reportedCatalogue.safeParse(response);
  return {
    models: (data?.models ?? []).map(({ value, displayName, supportedEffortLevels }) => ({
      id: value,
      name: displayName ?? value,
      efforts: supportedEffortLevels,
    })),
    commands: data?.commands ?? [],
  };
};

const settings = z.object({
  applied: z.object({ model: z.string().nullable().catch(null), effort: z.string().nullable().catch(null) }),
});

/** What it really works with. */
export const settingsOf = (response: unknown): readonly SessionFact[] => {
  const applied = settings.safeParse(response).data?.applied;
  return applied === undefined ? [] : [{ kind: 'model', ...applied }];
};

const localResult = z.object({ local_command: z.string() });

/** Whether a command of its own was done, without a model and without an echo of what asked for it. */
export const isLocal = (frame: unknown): boolean => localResult.safeParse(frame).success;

const localFailure = z.object({
  local_command_outcome: z.object({ kind: z.literal('failed') }),
  message: z.object({ content: z.array(z.object({ text: z.string() })) }),
});

/** Why a command of its own failed; null: it did not. */
export const localFailureOf = (frame: unknown): string | null =>
  localFailure
    .safeParse(frame)
    .data?.message.content.map(({ text }) => text)
    .join('\n') ?? null;

/** That failure as the end of a turn. */
export const refusedWith = (message: string): Reported => ({ kind: 'failure', failure: 'program', message, resetsAt: null });

/** Without one of them. */
export const without = <Asked>(asks: Readonly<Record<string, Asked>>, key: string): Record<string, Asked> =>
  Object.fromEntries(Object.entries(asks).filter(([name]) => name !== key));
