// What a program wants in the clipboard, out of the words of OSC 52.

/** More than this is not for a clipboard: base64, characters. */
export const CLIPBOARD_CHARS = 1024 * 1024;

/**
 * The text that the payload of OSC 52 sets; null: it asks what is there, which nobody tells it, or it sets nothing that is
 * text, or too much. Pure.
 */
export const clipboardText = (payload: string): string | null => {
  const [, encoded] = /^[cpqs0-7]{0,8};([A-Za-z0-9+/]+={0,2})$/.exec(payload) ?? [];
  if (encoded === undefined || encoded.length > CLIPBOARD_CHARS) return null;
  try {
    const bytes = Uint8Array.from(atob(encoded), (sign) => sign.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
};
