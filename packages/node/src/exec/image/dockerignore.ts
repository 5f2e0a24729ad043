// `.dockerignore`: what of a context is left out. Engines leave that to who sends the context.

const CHARACTER: Readonly<Record<string, string>> = { '*': '[^/]*', '?': '[^/]' };

/** A pattern as an expression: `*` and `?` within one name, `**` across names. */
const expressionOf = (pattern: string): RegExp => {
  const source = pattern.replace(/\*\*\/|\*\*|\[[^\]/]+\]|[\s\S]/g, (part) => {
    if (part === '**/') return '(?:.*/)?';
    if (part === '**') return '.*';
    if (part.length > 1) return part.replace(/^\[!/, '[^');
    return CHARACTER[part] ?? part.replace(/[.+^${}()|[\]\\]/, '\\$&');
  });
  return new RegExp(`^${source}(?:/.*)?$`, 's');
};

const clean = (pattern: string): string =>
  pattern
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');

/** Whether a path of the context is left out. The last pattern that fits decides; a folder takes along what is in it. */
export const createIgnore = (text: string): ((path: string) => boolean) => {
  const rules = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ leaveOut: !line.startsWith('!'), pattern: clean(line.replace(/^!/, '').trim()) }))
    .filter(({ pattern }) => pattern !== '')
    .map(({ leaveOut, pattern }) => ({ leaveOut, fits: expressionOf(pattern) }));
  return (path) => rules.findLast(({ fits }) => fits.test(path))?.leaveOut ?? false;
};
