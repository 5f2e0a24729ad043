// Characters that a person who reads a command or a path does not see, or takes for a space. Pure.

/** One of them, in a text that is one line. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Zs} ]/u;
const EACH_UNSEEN = new RegExp(UNSEEN.source, 'gu');

/** Whether a line has one. A tab and a line break are ones. */
export const hasUnseen = (line: string): boolean => UNSEEN.test(line);

/** Whether a text of several lines has one; a tab and a line break are none. */
export const hasUnseenText = (text: string): boolean => hasUnseen(text.replaceAll(/[\n\t]/g, ' '));

export const withoutUnseen = (line: string): string => line.replaceAll(EACH_UNSEEN, '');
