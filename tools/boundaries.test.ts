import { describe, expect, it } from 'vitest';
import { ARROWS, LEAF_SLICES, PACKAGES, RINGS, checkBoundaries } from './boundaries.ts';
import { withTree } from './planted-tree.ts';

/** What the check says about a planted tree, as `path:line rule`. */
function found(files: Record<string, string>): string[] {
  return withTree(files, (root) => checkBoundaries(root).findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`));
}

const NODE = 'packages/node/src';

describe('boundaries', () => {
  it('fails when it finds no source at all', () => {
    expect(() => found({ 'README.md': '' })).toThrow('nothing was checked');
  });

  it('fails on a source that does not parse', () => {
    expect(() => found({ 'packages/protocol/src/a.ts': 'export const = 1;' })).toThrow(
      'packages/protocol/src/a.ts does not parse',
    );
  });

  it('counts the files it looked at', () => {
    expect(
      withTree(
        { 'packages/protocol/src/a.ts': '', 'packages/protocol/src/b.ts': '', 'packages/protocol/src/fixtures/c.ts': '' },
        checkBoundaries,
      ),
    ).toEqual({ findings: [], files: 2 });
  });

  it('accepts a tree that follows the tables', () => {
    const tree = {
      'packages/protocol/src/index.ts': "import { z } from 'zod';",
      'packages/cli/src/main.ts':
        "import { version } from '@orrery/protocol/version'; import '@orrery/client'; import 'node:fs';",
      [`${NODE}/task/service.ts`]:
        "import './model.ts'; import '../policy/index.ts'; import '../store/sqlite/open.ts'; import '../kernel/id.ts';",
      [`${NODE}/task/model.ts`]: '',
      [`${NODE}/policy/index.ts`]: '',
      [`${NODE}/store/sqlite/open.ts`]: "import 'better-sqlite3';",
      [`${NODE}/kernel/id.ts`]: "import 'node:crypto';",
      [`${NODE}/boot.ts`]: "import './main.ts'; import './task/index.ts'; import './kernel/id.ts';",
      [`${NODE}/task/service.test.ts`]: "import '@orrery/testkit'; import 'vitest'; import '../../../../tools/machine.ts';",
    };
    expect(found(tree)).toEqual([]);
  });

  describe('packages', () => {
    it.each([
      ['protocol', "import 'hono';"],
      ['protocol', "import 'node:fs';"],
      ['protocol', "export { a } from '@orrery/client';"],
      ['client', "import 'zod';"],
      ['cli', "const main = await import('@orrery/node/main');"],
      ['cli', "type Boot = import('@orrery/node/main').Boot;"],
      ['node', "import '@orrery/testkit';"],
      ['node', "import 'vitest';"],
      ['node', "import 'http_ece';"],
      ['node', "import { Command } from 'commander';"],
      ['client', "import '../../protocol/src/index.ts';"],
      ['client', "const zod = require('zod');"],
      ['unheard-of', "import 'zod';"],
    ])('%s may not say %s', (name, text) => {
      const path = name === 'node' ? `${NODE}/kernel/a.ts` : `packages/${name}/src/a.ts`;
      expect(found({ [path]: `\n${text}` })).toEqual([`${path}:${name === 'unheard-of' ? 1 : 2} package`]);
    });
  });

  describe('rings', () => {
    it.each([
      ['kernel/a.ts', '../store/a.ts', 'upward by one'],
      ['exec/sandbox/a.ts', '../../task/index.ts', 'upward into a slice'],
      ['run/loop.ts', '../boot.ts', 'upward to the wiring'],
      ['exec/sandbox/a.ts', '../../plugin/a.ts', 'sideways without an arrow'],
      ['mail/a.ts', '../team/index.ts', 'sideways between slices'],
      ['policy/a.ts', '../audit/index.ts', 'from a leaf slice to another'],
      ['run/loop.ts', '../task/store.ts', 'past the door of a slice'],
      ['helpers/a.ts', '../kernel/a.ts', 'from a folder without a ring'],
    ])('%s does not import %s (%s)', (from, to) => {
      const line = from.startsWith('helpers') ? 1 : 3;
      expect(found({ [`${NODE}/${from}`]: `// why\n\nimport '${to}';` })).toEqual([`${NODE}/${from}:${line} ring`]);
    });

    it('follows the arrows of the table', () => {
      for (const [from, targets] of Object.entries(ARROWS)) {
        for (const to of targets) expect(found({ [`${NODE}/${from}/a.ts`]: `import '../${to}/index.ts';` })).toEqual([]);
      }
    });

    it('names only folders that are in the ring table', () => {
      const known = RINGS.flat();
      const named = [...LEAF_SLICES, ...Object.entries(ARROWS).flat(2)];
      expect(named.filter((name) => !known.includes(name))).toEqual([]);
    });
  });

  describe('deletion', () => {
    it.each([
      'await rm(path, { recursive: true });',
      'rmSync(path, options);',
      'fs.promises.rm(path, { ...options });',
      'rmdirSync(path, { recursive: true });',
      'await rimraf(path);',
    ])('%s is for the one deletion path', (text) => {
      expect(found({ [`${NODE}/task/a.ts`]: text })).toEqual([`${NODE}/task/a.ts:1 deletion`]);
      expect(found({ [`${NODE}/files/a.ts`]: text, [`${NODE}/task/a.test.ts`]: text, 'tools/a.ts': text })).toEqual([]);
    });

    it('leaves the removal of one file or one empty folder alone', () => {
      expect(
        found({
          [`${NODE}/task/a.ts`]:
            'unlinkSync(path); rmdirSync(path); rows.remove(path); rmSync(path, { force: true }); await rm(path);',
        }),
      ).toEqual([]);
    });
  });

  describe('spawning', () => {
    it.each([
      "import { spawn } from 'node:child_process';",
      "import 'child_process';",
      "await import('node:child_process');",
      "import 'node:cluster';",
    ])('%s is for the spawn points', (text) => {
      expect(found({ [`${NODE}/task/a.ts`]: text })).toContain(`${NODE}/task/a.ts:1 spawn`);
      expect(found({ [`${NODE}/keeper/a.ts`]: text.replace("'child", "'node:child") })).toEqual([]);
    });
  });

  describe('cycles', () => {
    it('finds one inside a package, types and re-exports included, and prints its way', () => {
      const tree = {
        'packages/protocol/src/a.ts': "import type { B } from './b.ts';",
        'packages/protocol/src/b.ts': "export { C } from './c.ts';",
        'packages/protocol/src/c.ts': "import './a.ts';",
      };
      expect(withTree(tree, checkBoundaries).findings).toEqual([
        {
          rule: 'cycle',
          path: 'packages/protocol/src/a.ts',
          line: 1,
          message: ['a', 'b', 'c', 'a'].map((name) => `packages/protocol/src/${name}.ts`).join(' → '),
        },
      ]);
    });

    it('finds a file that imports itself', () => {
      expect(found({ 'tools/a.ts': "import './a.ts';" })).toEqual(['tools/a.ts:1 cycle']);
    });
  });

  it('has every package of this repository in its table', async () => {
    const { readdirSync } = await import('node:fs');
    expect(readdirSync(new URL('../packages', import.meta.url)).toSorted()).toEqual(Object.keys(PACKAGES).toSorted());
  });
});
