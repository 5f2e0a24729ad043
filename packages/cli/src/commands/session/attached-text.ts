import type { AttachedView } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { factsText, type Screen } from '../../screen.ts';
import { agoText } from '../../wording.ts';

/** Facts of a person's own program that is attached, or was. */
export const attachedText = (screen: Screen, session: AttachedView, nowMs: number): string => {
  const line = (text: string | null): string | null => (text === null ? null : inertLine(text));
  return factsText(screen, [
    ['session', inertLine(session.name)],
    ['id', session.id],
    ['state', session.state],
    ['because', line(session.reason)],
    ['program', line(session.program)],
    ['harness', line(session.harness)],
    ['agent', session.agent === null ? null : inertLine(session.agent.name)],
    ['folder', line(session.folder)],
    ['by', inertLine(session.by)],
    ['heard of', session.heardAt === null ? null : agoText(session.heardAt, nowMs)],
    ['made', agoText(session.createdAt, nowMs)],
    ['ended', session.endedAt === null ? null : agoText(session.endedAt, nowMs)],
  ]);
};
