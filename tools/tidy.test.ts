import { describe, expect, it } from 'vitest';
import { withTree } from './planted-tree.ts';
import { checkTidy } from './tidy.ts';
import type { Ratchet } from './tidy.ts';

const PATH = 'packages/node/src/kernel/thing.ts';

function found(text: string, path = PATH): string[] {
  return withTree({ [path]: text }, (root) => checkTidy(root, {}).findings.map(({ line, rule }) => `${line} ${rule}`));
}

const lines = (count: number): string => 'work();\n'.repeat(count);
const functionOf = (count: number, head = 'export function act()'): string => `${head} {\n${lines(count - 2)}}\n`;

function withRatchet(text: string, ratchet: Ratchet): { findings: string[]; excess: Ratchet } {
  const { findings, excess } = withTree({ [PATH]: text }, (root) => checkTidy(root, ratchet));
  return { findings: findings.map(({ rule }) => rule), excess };
}

describe('tidy', () => {
  it('fails when it finds no source at all', () => {
    expect(() => withTree({ 'README.md': '' }, (root) => checkTidy(root, {}))).toThrow('nothing was checked');
  });

  it('says nothing about a tidy file', () => {
    expect(
      found(
        "import { a } from './a.ts';\n\n/** Adds. */\nexport function add(left: number, right: number): number {\n  return left + right + a;\n}\n",
      ),
    ).toEqual([]);
  });

  describe('length', () => {
    it.each([
      [300, {}, []],
      [301, {}, ['file-length']],
      [301, { [PATH]: 301 }, []],
      [302, { [PATH]: 301 }, ['file-length']],
      [500, { [PATH]: 500 }, []],
      [501, { [PATH]: 501 }, ['file-length']],
    ] as [number, Ratchet, string[]][])('a file of %i lines with the ratchet %o gives %o', (count, ratchet, expected) => {
      expect(withRatchet(lines(count), ratchet).findings).toEqual(expected);
    });

    it.each([
      [40, {}, []],
      [41, {}, ['function-length']],
      [41, { [`${PATH}#act`]: 45 }, []],
      [46, { [`${PATH}#act`]: 45 }, ['function-length']],
      [71, { [`${PATH}#act`]: 71 }, ['function-length']],
    ] as [number, Ratchet, string[]][])('a function of %i lines with the ratchet %o gives %o', (count, ratchet, expected) => {
      expect(withRatchet(functionOf(count), ratchet).findings).toEqual(expected);
    });

    it('reports what the ratchet should hold', () => {
      expect(withRatchet(functionOf(41) + functionOf(50, 'const other = async () =>') + lines(250), {}).excess).toEqual({
        [PATH]: 341,
        [`${PATH}#act`]: 41,
        [`${PATH}#other`]: 50,
      });
    });

    it('counts a line in the innermost function that holds it, so that closures are measured like methods', () => {
      const closures = `function createThing() {\n${lines(20)}  const first = () => {\n${lines(30)}  };\n  return { first, second() {\n${lines(68)}  } };\n}\n`;
      expect(withRatchet(closures, {})).toEqual({ findings: ['function-length'], excess: { [`${PATH}#second`]: 70 } });
      expect(withRatchet(closures.replace('const first', `${lines(20)}const first`), {}).excess).toEqual({
        [`${PATH}#createThing`]: 44,
        [`${PATH}#second`]: 70,
      });
    });

    it('counts test bodies apart from the blocks that hold them', () => {
      const body = `describe.skipIf(none)('things', () => {\n${lines(80)}  it('works', () => {\n${lines(45)}  });\n});\n`;
      expect(withTree({ 'tools/a.test.ts': body }, (root) => checkTidy(root, {}).findings.map(({ message }) => message))).toEqual(
        ['it works has 47 lines of its own (40, at most 70).'],
      );
    });
  });

  it.each([
    ['function act(a: A, b: B, c: C, d: D) {}', 'parameters'],
    ['const act = (a: A, b: B, c: C, ...d: D[]) => a;', 'parameters'],
    ['export default act;', 'default-export'],
    ["export * from './other.ts';", 'export-star'],
    ["export * as other from './other.ts';", 'export-star'],
    ['class RunManager {}', 'name'],
    ['export type SessionData = string;', 'name'],
    ['class TaskBase {}', 'name'],
    ['export const parseUtils = {};', 'name'],
    ['let count = 0;', 'module-state'],
    ['export var count = 0;', 'module-state'],
    ['class Child extends Parent {}', 'extends'],
    ['export const value: any = 1;', 'any'],
    ['const value = parse() as any[];', 'any'],
  ])('%s breaks %s', (text, rule) => {
    expect(found(`// first line\n${text}\n`)).toEqual([`2 ${rule}`]);
  });

  it.each([
    'function act(this: Thing, a: A, b: B, c: C) {}',
    'class Failure extends Error {}',
    'export const findBase = (task: Task) => task.base;',
    "it.each([[1, 2, 3, 4]])('adds', (a, b, c, sum) => check(a, b, c, sum));",
    '// any: the parser of another package gives it\nexport const value: any = 1;',
    'export const value: any = 1; // any: the parser of another package gives it',
    'export function act() {\n  let count = 0;\n  const data = read();\n  return count + data;\n}',
    '// let any export * stand in a comment\nconst text = "export default any";',
  ])('%s is accepted', (text) => {
    expect(found(text)).toEqual([]);
  });

  it('wants a reason behind a waiver of any', () => {
    expect(found('// any:\nexport const value: any = 1;')).toEqual(['2 any']);
  });

  it.each([
    ['packages/node/src/kernel/MyThing.ts', 'file-name'],
    ['packages/node/src/kernel/my_thing.ts', 'file-name'],
    ['packages/node/src/kernel/utils.ts', 'file-name'],
    ['packages/node/src/kernel/run-manager.ts', 'file-name'],
  ])('%s breaks %s', (path, rule) => {
    expect(found('', path)).toEqual([`1 ${rule}`]);
  });

  it('accepts default exports where a tool wants them and names that only look forbidden', () => {
    expect(found('export default {};', 'vitest.config.ts')).toEqual([]);
    expect(found('', 'packages/node/src/kernel/database.test.ts')).toEqual([]);
  });

  it('leaves fixtures and generated files alone', () => {
    const broken = `export default 1;\n${lines(600)}`;
    const tree = {
      [PATH]: '',
      'packages/node/src/harness/pi/fixtures/Recorded.ts': broken,
      'packages/client/src/routes.generated.ts': broken,
    };
    expect(withTree(tree, (root) => checkTidy(root, {}))).toEqual({ findings: [], excess: {}, files: 1 });
  });

  it('finds paths of a machine in any text, and only those', () => {
    const machine = ['', 'farm', 'x'].join('/');
    const tree = {
      [PATH]: '',
      'docs/a.md': `one\nsee ${machine}\n`,
      '.ci/run': `cd ${machine}`,
      'docs/b.md': `https://host.example${machine} and ./notes${machine} and /home/x`,
    };
    expect(
      withTree(tree, (root) => checkTidy(root, {}).findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`)),
    ).toEqual(['.ci/run:1 machine-path', 'docs/a.md:2 machine-path']);
  });
});
