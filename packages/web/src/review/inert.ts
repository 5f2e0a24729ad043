// Characters that would make a line look like another one are shown by name: controls, and those that turn the direction
// of text around or have no width.

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** What a terminal would draw in colour, and other orders to one that move no text. */
const styles = /\u001b\[[0-9;:]*m|\u001b\][0-9]*;[^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)/g;

/** What was printed for a terminal, without its colours and titles. What they hid is shown. */
export const withoutStyles = (text: string): string => text.replace(styles, '');

/** A line as it is, each character that cannot be seen shown by its number. A carriage return at its end is shown too. */
export const visible = (text: string): string =>
  text.replace(hidden, (sign) => `⟨U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);

const unseen = /(?![\n\t ])[\p{C}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** What a person is asked to allow, character by character: blank letters and spaces of other kinds are shown by their number, too. */
export const exact = (text: string): string =>
  text.replace(unseen, (sign) => `⟨U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
