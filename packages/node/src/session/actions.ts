// What an input is, beside words: files that go with it, an order to sum up, a command of the program. What the program
// cannot do is refused before anything is stored.

import { OrreryError, type AttachmentFacts, type ReportedCatalogue, type TurnAction, type TurnCreate } from '@orrery/protocol';
import { ATTACHMENT_INPUT_IMAGE_BYTES, SESSION_INPUT_BYTES } from '../kernel/attachment-limits.ts';
import type { Tx } from '../store/store.ts';
import { attachmentsOf } from './attachment-store.ts';
import { factsOf } from './attachments.ts';
import type { SessionParts } from './doors.ts';
import { isImage } from './media-type.ts';
import type { SessionRow } from './model.ts';

/** An input as it is stored. */
export type Meant = { readonly action: TurnAction; readonly text: string; readonly attachments: readonly AttachmentFacts[] };

/** Commands by name, as a session's program reported them last. */
export const commandsOf = ({ catalogue }: Pick<SessionRow, 'catalogue'>): ReportedCatalogue['commands'] =>
  (JSON.parse(catalogue) as { commands?: ReportedCatalogue['commands'] }).commands ?? [];

/** `/name the rest`. */
export const commandText = (name: string, rest: string): string => (rest.trim() === '' ? `/${name}` : `/${name} ${rest.trim()}`);

/** The name in a command's text. */
export const commandName = (text: string): string => text.slice(1).split(/\s/)[0] ?? '';

/** Checks what is asked for, and says how it is stored. */
export const meaningOf = async (
  parts: Pick<SessionParts, 'abilities'>,
  tx: Tx,
  { session, asked }: { readonly session: SessionRow; readonly asked: TurnCreate },
): Promise<Meant> => {
  const action = asked.action ?? 'say';
  const plain = asked.kind === 'prompt' && (asked.attachments ?? []).length === 0;
  if (action !== 'say' && !plain)
    throw new OrreryError('invalid_input', 'Only words go into a turn that runs, and only words have attachments.', {
      rule: 'A steer, a command and a summing up stand alone.',
    });
  switch (action) {
    case 'compact':
      if (!parts.abilities(session.harness).compaction) throw cannot(session, 'sum up its conversation when it is told to');
      return { action, text: commandText('compact', asked.text), attachments: [] };
    case 'command':
      return { action, text: knownCommand(session, asked), attachments: [] };
    case 'say':
      return { action, text: asked.text, attachments: await attachmentsFor(parts, tx, { session, asked }) };
  }
};

const knownCommand = (session: SessionRow, { command = '', text }: TurnCreate): string => {
  const name = command.replace(/^\//, '');
  if (commandsOf(session).some((one) => one.name === name)) return commandText(name, text);
  throw noCommand(session, name);
};

/** A command that is not there is never sent as words. */
export const noCommand = ({ name, harness }: Pick<SessionRow, 'name' | 'harness'>, command: string): OrreryError =>
  new OrreryError('unsupported', `${harness} has no command /${command.slice(0, 100)} in the session ${name}.`, {
    rule: 'Commands are those that the program reported; one that is not there is never sent as words.',
    fix: `orrery session commands ${name}`,
  });

const cannot = ({ harness }: SessionRow, what: string): OrreryError =>
  new OrreryError('unsupported', `${harness} cannot ${what}.`, {
    rule: 'What a program can do is shown by its harness.',
    fix: `orrery harness show ${harness}`,
  });

const attachmentsFor = async (
  parts: Pick<SessionParts, 'abilities'>,
  tx: Tx,
  { session, asked }: { readonly session: SessionRow; readonly asked: TurnCreate },
): Promise<readonly AttachmentFacts[]> => {
  const ids = [...new Set(asked.attachments ?? [])];
  if (asked.text.trim() === '' && ids.length === 0)
    throw new OrreryError('empty_input', 'There is nothing to say.', { rule: 'An input has words or attachments.' });
  if (ids.length === 0) return [];
  if (asked.kind === 'steer') throw cannot(session, 'be given files in the middle of a turn');
  const rows = new Map((await attachmentsOf(tx.db, session.id)).map((row) => [row.id, row]));
  const facts = ids.map((id) => {
    const row = rows.get(id);
    if (row === undefined) throw noAttachment(session, id);
    return factsOf(row);
  });
  if (!parts.abilities(session.harness).files) throw cannot(session, 'be given files');
  checkImages(parts, session, { text: asked.text, images: facts.filter(({ mediaType }) => isImage(mediaType)) });
  return facts;
};

const noAttachment = ({ name }: SessionRow, id: string): OrreryError =>
  new OrreryError('not_found', `The session ${name} has no attachment ${id.slice(0, 100)}.`, {
    rule: 'A file is given to a session before an input of that session names it.',
    fix: `orrery session send ${name} "…" --attach FILE`,
  });

const checkImages = (
  parts: Pick<SessionParts, 'abilities'>,
  session: SessionRow,
  { text, images }: { readonly text: string; readonly images: readonly AttachmentFacts[] },
): void => {
  if (images.length === 0) return;
  if (!parts.abilities(session.harness).images) throw cannot(session, 'look at images');
  const bytes = images.reduce((sum, image) => sum + image.bytes, 0);
  const line = Buffer.byteLength(JSON.stringify(text)) + Math.ceil(bytes / 3) * 4;
  if (bytes <= ATTACHMENT_INPUT_IMAGE_BYTES && line <= SESSION_INPUT_BYTES) return;
  throw new OrreryError('input_too_large', `${images.length} images with ${bytes} bytes are too much for one input.`, {
    rule: `The images of one input have at most ${ATTACHMENT_INPUT_IMAGE_BYTES} bytes, and with its words ${SESSION_INPUT_BYTES} as a line.`,
    fix: 'Send them in several inputs.',
    details: { limitBytes: ATTACHMENT_INPUT_IMAGE_BYTES },
  });
};
