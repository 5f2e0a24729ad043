// An input as its program is given it: its files are inside before it is told of them.

import type { AttachmentFacts, TurnAction } from '@orrery/protocol';
import type { PromptImage, SessionCommand } from '../../harness/dialogue.ts';
import { commandName, commandsOf, isImage, noCommand, type SessionRow, type TurnRow } from '../../session/index.ts';
import type { Live, SessionConductorParts } from './context.ts';

type Prompt = Extract<SessionCommand, { kind: 'prompt' }>;

/** What is told, or why it cannot be. */
export const promptOf = async (
  parts: SessionConductorParts,
  live: Live,
  given: { readonly session: SessionRow; readonly row: TurnRow; readonly number: number; readonly record: string | null },
): Promise<Prompt | { readonly refused: string }> => {
  const { session, row, number, record } = given;
  const action = row.action as TurnAction;
  const attachments = attachmentsOf(row);
  if (action === 'command' && !commandsOf(session).some(({ name }) => name === commandName(row.text)))
    return { refused: noCommand(session, commandName(row.text)).message };
  const carried = await Promise.all(attachments.map((one) => carry(parts, live, one)));
  const missing = carried.find(({ bytes }) => bytes === null);
  if (missing !== undefined) return { refused: `The attachment ${missing.facts.name} is gone; it was not sent.` };
  const images = carried.flatMap(({ facts, bytes, path }): PromptImage[] =>
    isImage(facts.mediaType) ? [{ mediaType: facts.mediaType, base64: Buffer.from(bytes ?? []).toString('base64'), path }] : [],
  );
  const files = carried.filter(({ facts }) => !isImage(facts.mediaType));
  return {
    kind: 'prompt',
    turn: number,
    action,
    text: withFiles(action === 'say' ? withRecord(record, row.text) : row.text, files),
    images,
  };
};

/** What an input names. */
export const attachmentsOf = ({ attachments }: Pick<TurnRow, 'attachments'>): readonly AttachmentFacts[] =>
  JSON.parse(attachments) as AttachmentFacts[];

type Carried = { readonly facts: AttachmentFacts; readonly bytes: Uint8Array | null; readonly path: string };

/** Puts a file into the environment, beside the checkout. Its folder is named by chance, so that nothing stands there before. */
const carry = async (parts: SessionConductorParts, { environment }: Live, facts: AttachmentFacts): Promise<Carried> => {
  const path = `attachments-${facts.id}/${facts.name}`;
  const bytes = await parts.attachmentBytes(facts.id).catch(() => null);
  if (bytes !== null) await environment.writeHomeFile(path, bytes);
  return { facts, bytes, path: `${environment.home}/${path}` };
};

const withFiles = (text: string, files: readonly Carried[]): string => {
  if (files.length === 0) return text;
  const list = files.map(({ facts, path }) => `- ${path} (${facts.mediaType}, ${facts.bytes} bytes)`);
  return [text, ...(text === '' ? [] : ['']), 'Attached files:', ...list].join('\n');
};

/** What a program is given of an input: behind the record of an earlier conversation, where there is one. */
export const withRecord = (record: string | null, text: string): string => (record === null ? text : `${record}\n\n${text}`);
