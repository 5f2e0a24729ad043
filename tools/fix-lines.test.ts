// Every command that the product shows to be typed is one that its own command line takes.
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { meaningOf, readInput } from '../packages/cli/src/command-line.ts';
import type { CommandSpec } from '../packages/cli/src/commands/command.ts';
import { table } from '../packages/cli/src/commands/table.ts';
import { isSource, isTestCode, listFiles, readSource, walk } from './source.ts';

const root = dirname(import.meta.dirname);
const first = new Set(table.flatMap(({ noun, verb }) => (noun === null ? [verb] : [noun])));
/** What stands for something that the person knows: `ENV`, `<id>`, or what the code fills in. */
const HOLE = 'HOLE';
const PLACEHOLDER = /^(<.*>|[A-Z][A-Z_-]*…?|.*HOLE.*)$/;

type Shown = { readonly at: string; readonly text: string; /** It is a line of what to do next. */ readonly isFix: boolean };

/** Every text of the product, what is filled in as a hole. */
const texts: readonly Shown[] = listFiles(root)
  .filter((path) => path.startsWith('packages/') && isSource(path) && !isTestCode(path))
  .flatMap((path) => {
    const source = readSource(root, path);
    const found: Shown[] = [];
    walk(source.program, (node, parents) => {
      const isFix = parents.some((parent) => parent.type === 'Property' && 'name' in parent.key && parent.key.name === 'fix');
      const at = `${path}:${source.lineOf(node.start)}`;
      if (node.type === 'Literal' && typeof node.value === 'string') found.push({ at, text: node.value, isFix });
      if (node.type === 'TemplateLiteral')
        found.push({ at, text: node.quasis.map(({ value }) => value.cooked ?? '').join(HOLE), isFix });
    });
    return found;
  });

/** The commands in a text, each as words; where a sentence goes on behind one, the command ends. */
const commandsIn = (text: string): string[][] =>
  [...text.matchAll(/(?<=^\s*|[:·`]\s*)orrery (?=[a-z])/g)].flatMap(({ index }) => {
    const words: string[] = [];
    for (const [, quoted, plain = ''] of text.slice(index).matchAll(/\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))/g)) {
      if (quoted !== undefined) {
        words.push(quoted);
        continue;
      }
      if (/^(&&|\||[<>]$|·|#|\\)/.test(plain)) break;
      const bare = plain.replace(/[`),.:;]+$/, '');
      words.push(bare);
      if (bare !== plain) break;
    }
    return first.has(words[1] ?? '') ? [words.slice(1)] : [];
  });

/** The row for lines with placeholders: what would be read as a number or a choice is taken as it is. */
const lenient = (spec: CommandSpec): CommandSpec => ({
  ...spec,
  options: spec.options?.map(({ name, kind, summary }) => ({
    name,
    kind: kind === 'flag' || kind === 'list' ? kind : 'text',
    summary,
  })),
  arguments: spec.arguments?.map(({ name, required, summary }) => ({ name, required, summary })),
});

const whyRefused = (words: readonly string[]): string | null => {
  try {
    const meaning = meaningOf(words, table);
    if (meaning.kind === 'command')
      readInput(words.some((word) => PLACEHOLDER.test(word)) ? { ...meaning, spec: lenient(meaning.spec) } : meaning);
    return null;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
};

describe('what the product shows to be typed', () => {
  it('is a command of its own', () => {
    const commands = texts.flatMap(({ at, text }) => commandsIn(text).map((words) => ({ at, words })));
    expect(commands.length).toBeGreaterThan(150);
    const refused = commands.flatMap(({ at, words }) => {
      const why = whyRefused(words);
      return why === null ? [] : [`${at} orrery ${words.join(' ')}: ${why}`];
    });
    expect(refused).toEqual([]);
  });

  it('is a whole command, not an option without one', () => {
    const alone = texts.filter(
      ({ isFix, text }) =>
        isFix &&
        / --[a-z]/.test(text) &&
        !/\b(orrery|docker|ssh|git|apt-get|systemctl) |^Leave |the same command with/.test(text),
    );
    expect(alone.map(({ at, text }) => `${at} ${text}`)).toEqual([]);
  });
});
