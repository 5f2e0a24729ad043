// The text of a policy file. Pure.

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Why bytes are no text, for a message. */
export const NOT_UTF8 = 'it is not written in UTF-8';

/** The text to the letter, a byte order mark too; null: it is not UTF-8. */
export const textOfBytes = (bytes: Uint8Array): string | null => {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
};
