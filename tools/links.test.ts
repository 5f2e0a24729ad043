import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLinks } from './links.ts';
import { withTree } from './planted-tree.ts';

const found = (files: Record<string, string>): string[] =>
  withTree(files, (root) => checkLinks(root).findings.map(({ path, line, message }) => `${path}:${line} ${message}`));

describe('the link check', () => {
  it('finds links that lead nowhere, by file, line and heading', () => {
    const tree = {
      'README.md': [
        '# One',
        '[a](docs/a.md) [b](docs/none.md)',
        '[c](docs/a.md#the-second-one) [d](docs/a.md#third)',
        '[e](#one) [f](#two)',
        '![g](none.svg)',
        '[h](code.ts#L2) [i](code.ts#L9)',
      ].join('\n'),
      'docs/a.md': '# A\n\n## The *second* one\n[up](../README.md) [out](../../etc/passwd)',
      'code.ts': 'one\ntwo\n',
    };
    expect(found(tree)).toEqual([
      'README.md:2 docs/none.md does not exist',
      'README.md:3 docs/a.md#third has no heading #third',
      'README.md:4 #two has no heading #two',
      'README.md:5 none.svg does not exist',
      'README.md:6 code.ts#L9 has no line 9',
      'docs/a.md:4 ../../etc/passwd does not exist',
    ]);
  });

  it('leaves the web, examples in fences and plain code alone', () => {
    expect(
      found({
        'README.md': '[a](https://example.com/x) [m](mailto:a@example.com)\n```\n[b](none.md)\n```\n`docs/none.md` is not a link',
      }),
    ).toEqual([]);
  });

  it('finds paths in backticks of the walk that are not there', () => {
    const walk =
      'See `packages/a.ts`, `packages/a.ts:2`, `packages/a.ts:7` and `packages/b.ts`.\nNot paths: `task.created`, `a/b c`, `.orrery/hooks/init.sh`, `refs/orrery/x`, `/api/v1`.\n`packages/` and `packages/none/`';
    expect(found({ 'docs/walk.md': walk, 'packages/a.ts': 'one\ntwo\n' })).toEqual([
      'docs/walk.md:1 `packages/a.ts:7` has no line 7',
      'docs/walk.md:1 `packages/b.ts` does not exist',
      'docs/walk.md:3 `packages/none/` does not exist',
    ]);
  });

  it('finds names behind the code links of the walk that the file does not declare, and links without a name', () => {
    const walk = [
      '[a](../a.ts) `one`, `two` and `inner`',
      '[a](../a.ts) `called`, `typed` and `gone`',
      '[a](../a.ts)',
      '[k](../k.c) `run_go`, `main`',
    ].join('\n');
    const code =
      'export const one = () => called({\n});\ncalled();\n// typed, gone\ntype typed = 1;\nexport async function* two() {}\nconst x = {\n  inner: 1,\n};\n';
    expect(
      found({ 'docs/walk.md': walk, 'a.ts': code, 'k.c': 'static int run_go(struct keeper *k) {\n  main(k);\n}\n' }),
    ).toEqual([
      'docs/walk.md:2 ../a.ts declares no called, gone',
      'docs/walk.md:3 ../a.ts is linked without the name of what is to be found there',
      'docs/walk.md:4 ../k.c declares no main',
    ]);
  });
});

it('no document of this repository points at something that is not there', () => {
  const { findings, documents, mentions } = checkLinks(dirname(import.meta.dirname));
  expect({ findings, some: documents > 10 && mentions > 20 }).toEqual({ findings: [], some: true });
});

it('every decision is in the index of decisions', () => {
  const folder = join(dirname(import.meta.dirname), 'docs', 'decisions');
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const pages = readdirSync(folder).filter((name) => /^\d{3}-/.test(name));
  expect(pages.filter((name) => !index.includes(`](${name})`))).toEqual([]);
  expect(new Set(pages.map((name) => name.slice(0, 3))).size).toBe(pages.length);
});
