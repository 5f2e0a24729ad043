// Characters that would make a line look like another one are shown by name: controls, and those that turn the direction
// of text around or have no width.

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A line as it is, each character that cannot be seen shown by its number. A carriage return at its end is shown too. */
export const visible = (text: string): string =>
  text.replace(hidden, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
