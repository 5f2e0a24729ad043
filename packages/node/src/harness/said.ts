/** Words that begin as a command does: a program would run them as one, or drop them. Behind a space they are words. */
export const saidText = (text: string): string => (text.startsWith('/') ? ` ${text}` : text);

/** The same for a program that looks for a command behind white space, too: it does not look behind a character without width. */
export const saidOutright = (text: string): string => (text.trimStart().startsWith('/') ? `\u200b${text}` : text);
