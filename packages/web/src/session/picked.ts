// Files that are to go with an input, and what of them cannot: said before anything is sent. The node checks them again. Pure.

import {
  ATTACHMENT_FILE_BYTES,
  ATTACHMENT_IMAGE_BYTES,
  ATTACHMENT_INPUT_IMAGE_BYTES,
  MAX_TURN_ATTACHMENTS,
} from '@orrery/protocol/attachment-limits';
import { bytesText } from '../state/bytes.ts';

type Sized = { readonly name: string; readonly type: string; readonly size: number };

const isImage = ({ type }: Sized): boolean => /^image\/(png|jpeg|gif|webp)$/.test(type);

/** Why a file cannot go with an input, with the limit's name; null: it can. */
export const whyNot = (file: Sized): string | null => {
  if (file.size === 0) return 'it is empty';
  const [what, limit, most] = isImage(file)
    ? (['an image', 'ATTACHMENT_IMAGE_BYTES', ATTACHMENT_IMAGE_BYTES] as const)
    : (['a file', 'ATTACHMENT_FILE_BYTES', ATTACHMENT_FILE_BYTES] as const);
  return file.size <= most ? null : `${bytesText(file.size)}; ${what} has at most ${bytesText(most)} (${limit})`;
};

/** Why files cannot go together; null: they can. */
export const whyNotTogether = (files: readonly Sized[]): string | null => {
  if (files.length > MAX_TURN_ATTACHMENTS)
    return `${files.length} files; an input has at most ${MAX_TURN_ATTACHMENTS} (MAX_TURN_ATTACHMENTS)`;
  const images = files.filter(isImage).reduce((sum, { size }) => sum + size, 0);
  return images <= ATTACHMENT_INPUT_IMAGE_BYTES
    ? null
    : `${bytesText(images)} of images; an input has at most ${bytesText(ATTACHMENT_INPUT_IMAGE_BYTES)} (ATTACHMENT_INPUT_IMAGE_BYTES)`;
};

/** What may go with an input, in a line. */
export const limitsLine = `At most ${MAX_TURN_ATTACHMENTS} files: images to ${bytesText(ATTACHMENT_IMAGE_BYTES)} each and ${bytesText(ATTACHMENT_INPUT_IMAGE_BYTES)} together, others to ${bytesText(ATTACHMENT_FILE_BYTES)}.`;
