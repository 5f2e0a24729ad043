// The words of a command that is nothing but one program and its arguments. Pure.

import { hasUnseen } from './unseen.ts';

/** What means nothing to a shell outside of quotes. All that is not here is taken for a sign of the shell. */
const PLAIN = /[A-Za-z0-9_@%+=:,./-]/;
/** What a shell does not look into between double quotes. */
const QUOTED = /[^"$`\\!]/u;
const LETTER = /[\p{L}\p{N}]/u;

/**
 * Its words as every POSIX shell takes them; null: it is more than one plain command (operators, substitutions, redirections,
 * line breaks, patterns, variables, assignments before it, escapes, characters nobody sees), or it cannot be told. Never guesses.
 */
export const plainWords = (command: string): readonly string[] | null => {
  if (hasUnseen(command)) return null;
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (const character of command) {
    if (quote !== null) {
      if (character === quote) quote = null;
      else if (quote === "'" || QUOTED.test(character)) word += character;
      else return null;
    } else if (character === ' ') {
      if (word !== null) words.push(word);
      word = null;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (PLAIN.test(character) || LETTER.test(character)) word = (word ?? '') + character;
    else return null;
  }
  if (quote !== null) return null;
  if (word !== null) words.push(word);
  const [first] = words;
  return first === undefined || isMore(first) ? null : words;
};

/** Words with which a shell begins something else than a program. */
const GRAMMAR = new Set(
  'if then else elif fi for while until do done case esac in function select time coproc { } ! [[ ]] . source eval exec command builtin'.split(
    ' ',
  ),
);

/** An assignment in front of a program, or a word of the shell's own. */
const isMore = (first: string): boolean => first === '' || first.includes('=') || GRAMMAR.has(first);

/** The shells that programs run commands in. */
const SHELL = /^(?:\/(?:usr\/)?bin\/)?(?:ba|da|z)?sh$/;
/** Any program with the name of a shell. */
const ANY_SHELL = /(?:^|\/)(?:sh|bash|dash|zsh|ash|ksh|fish)$/;
/** What is in front of a script: `-c` with other letters, and the same in words or with fish's capital. */
const GIVES_SCRIPT = /^[-+][A-Za-z]*[cC]|^--(?:init-)?command/;

/** How shells are looked into: with `anyShell` those that are none of the usual, too, which only a rule that narrows may take for one. */
export type ShellsMeant = { readonly anyShell: boolean };

/** What a shell is given to run; null: it is given something, and it cannot be told what; undefined: it is no shell with a script. */
const scriptOf = (words: readonly string[], { anyShell }: ShellsMeant): string | null | undefined => {
  const [program = '', flag = '', script] = words;
  if (!(anyShell ? ANY_SHELL : SHELL).test(program)) return undefined;
  if (words.length === 3 && /^-l?c$/.test(flag)) return script;
  return words.slice(1).some((word) => GIVES_SCRIPT.test(word)) ? null : undefined;
};

/** Whether a command begins with these words, by itself or as what a shell is given (`bash -lc '…'`); null: it is more than plain words. */
export const beginsWith = (command: string, words: readonly string[], shells: ShellsMeant): boolean | null => {
  const said = plainWords(command);
  if (said === null) return null;
  if (words.length <= said.length && words.every((one, at) => one === said[at])) return true;
  const script = scriptOf(said, shells);
  if (script === undefined) return false;
  return script === null ? null : beginsWith(script, words, shells);
};
