import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { meaningOf, readInput } from '../packages/cli/src/command-line.ts';
import { table } from '../packages/cli/src/commands/table.ts';
import { leavesOf, variableOf } from '../packages/node/src/config/layers.ts';
import { nodeSchema } from '../packages/node/src/config/node-schema.ts';
import { projectSchema } from '../packages/node/src/config/project-schema.ts';
import { proxyEnvironment } from '../packages/node/src/exec/proxy-environment.ts';
import { killPoints } from '../packages/node/src/run/kill-points.ts';
import { fill, madePages } from './docs.ts';
import { listFiles } from './source.ts';

const root = dirname(import.meta.dirname);
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const guide = (name: string): string => read(`docs/guides/${name}.md`);
const tableKeys = (text: string): string[] => [...text.matchAll(/^\| `([^`]+)`/gm)].map(([, key = '']) => key);

describe('what is made from the code', () => {
  it('is up to date (else: node tools/docs.ts)', () => {
    const old = madePages(root).filter(({ now, due }) => now !== due);
    expect(old.map(({ path }) => path)).toEqual([]);
  });

  it('replaces what stood in its place and nothing else, and refuses a page without the place', () => {
    const page = 'one\n<!-- made: a -->\nold\n<!-- end -->\ntwo\n<!-- made: b -->\n<!-- end -->\n';
    const parts = { a: () => '$1 new', b: () => 'b' };
    const filled = 'one\n<!-- made: a -->\n\n$1 new\n\n<!-- end -->\ntwo\n<!-- made: b -->\n\nb\n\n<!-- end -->\n';
    expect(fill(page, parts)).toBe(filled);
    expect(fill(filled, parts)).toBe(filled);
    expect(() => fill(page, { c: () => '' })).toThrow('no place for "c"');
  });
});

describe('the guides name what there is', () => {
  it('every key of both configuration files', () => {
    const named = new Set(tableKeys(guide('configuration')));
    const keys = [...leavesOf(nodeSchema), ...leavesOf(projectSchema)].map(({ key }) => key);
    expect(keys.length).toBeGreaterThan(30);
    expect(keys.filter((key) => !named.has(key))).toEqual([]);
  });

  it('exactly the variables that hooks get', () => {
    const inCode = new Set(read('packages/node/src/run/stages/hook.ts').match(/ORRERY_[A-Z]+/g));
    const inGuide = new Set(tableKeys(guide('hooks')).filter((key) => key.startsWith('ORRERY_')));
    expect(inCode.size).toBeGreaterThan(5);
    expect([...inGuide].toSorted()).toEqual([...inCode].toSorted());
    const proxy = Object.keys(proxyEnvironment('http://127.0.0.1:7777', 'token'));
    expect(proxy.filter((name) => !guide('hooks').includes(`\`${name}\``))).toEqual([]);
  });

  it('no variable that the code does not read', () => {
    const code = listFiles(root)
      .filter((path) => /^(packages|tools|bin)\//.test(path) && !/\.test\.ts$|^tools\/docs/.test(path))
      .map(read)
      .join('\n');
    const keys = new Set(leavesOf(nodeSchema).map(({ key }) => variableOf(key)));
    const pages = readdirSync(join(root, 'docs/guides')).filter((name) => name.endsWith('.md'));
    const named = pages.flatMap((name) => read(`docs/guides/${name}`).match(/\bORRERY_[A-Z]+(?:_[A-Z]+)*/g) ?? []);
    const known = (name: string): boolean => keys.has(name) || code.includes(name) || name.startsWith('ORRERY_SECRET');
    expect([...new Set(named)].filter((name) => !known(name))).toEqual([]);
  });

  it('every kill point in the order of an attempt', () => {
    const section = read('docs/walk.md').split('## 12.')[1] ?? '';
    expect(tableKeys(section)).toEqual([...killPoints]);
    const prose = read('docs/walk.md').split('## 12.')[0] ?? '';
    expect(killPoints.filter((point) => !prose.includes(`\`${point}\``))).toEqual([]);
  });
});

/** Words of a command line as a shell would give them, up to a comment, a pipe or a redirection. */
const wordsOf = (line: string): string[] => {
  const found = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => ({
    word: double ?? single ?? bare ?? '',
    quoted: bare === undefined,
  }));
  const end = found.findIndex(({ word, quoted }) => !quoted && /^(#|\||<|>|&&|;)/.test(word));
  return (end === -1 ? found : found.slice(0, end)).map(({ word }) => word);
};

/** Every command of ours in the shell examples of a document. */
const commandsIn = (text: string): string[][] =>
  [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .flatMap(([, block = '']) => block.split('\n'))
    .filter((line) => /^(bin\/)?orrery /.test(line))
    .map((line) => wordsOf(line).slice(1));

const problemOf = (words: readonly string[]): string | null => {
  try {
    const meaning = meaningOf(words, table);
    if (meaning.kind === 'command') readInput(meaning);
    return null;
  } catch (thrown) {
    return `${words.join(' ')}: ${(thrown as Error).message}`;
  }
};

describe('the commands of the documents', () => {
  it('are commands, with options that exist', () => {
    const documents = listFiles(root).filter((path) => /^(docs\/.*|[A-Z]+)\.md$/.test(path));
    const commands = documents.flatMap((path) => commandsIn(read(path)).map((words) => ({ path, words })));
    expect(commands.length).toBeGreaterThan(60);
    const wrong = commands.map(({ path, words }) => ({ path, problem: problemOf(words) }));
    expect(wrong.filter(({ problem }) => problem !== null)).toEqual([]);
  });

  it('are found to be wrong when they are', () => {
    const planted = '```sh\norrery runn "x"\norrery task apply last --mode sideways # no\norrery status | cat\nls\n```\n';
    expect(commandsIn(planted).map(problemOf)).toEqual([
      expect.stringContaining('runn'),
      expect.stringContaining('task apply last --mode sideways'),
      null,
    ]);
  });
});
