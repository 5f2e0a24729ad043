// JSON as people write it: with comments, and commas behind the last one.

/** The same text as JSON: comments and needless commas are blanks, so that places stay what they are. */
const asJson = (text: string): string => {
  const blank = (part: string): string => part.replace(/[^\n]/g, ' ');
  const bare = text.replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) =>
    part.startsWith('"') ? part : blank(part),
  );
  return bare.replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, (part) => (part === ',' ? ' ' : part));
};

/** Parses it. Throws `SyntaxError`. */
export const parseJsonc = (text: string): unknown => JSON.parse(asJson(text.replace(/^\uFEFF/, '')));
