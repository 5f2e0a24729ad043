import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withTree } from './planted-tree.ts';
import { checkTraces } from './trace.ts';

const table = (...rows: string[]): string => ['# T', '', '| statement | held by |', '|---|---|', ...rows].join('\n');

describe('the check of traces', () => {
  it('finds rows without a test, files that are not there, and titles that no test has', () => {
    const tree = {
      'a.test.ts': "it('holds it', () => {});\nit(`with ${1} part`, () => {});\n",
      'docs/trace/000.md': table(
        '| one | `a.test.ts` "holds it" |',
        '| two | `b.test.ts` "holds it" |',
        '| three | `a.test.ts` "holds it"<br>`a.test.ts` "holds another" |',
        '| four | moot: for a reason |',
        '| five | not yet: |',
        '| six | surely |',
        '| seven | `a.test.ts` "holds it"<br>a.test.ts |',
      ),
    };
    const { findings, rows } = withTree(tree, (root) => checkTraces(root));
    expect(rows).toBe(7);
    expect(findings.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '6 b.test.ts does not exist',
      '7 a.test.ts has no test "holds another"',
      '9 names no test, and is neither "moot: …" nor "not yet: …"',
      '10 names no test, and is neither "moot: …" nor "not yet: …"',
      '11 has 2 parts, of which 1 are read as `path` "title"',
    ]);
  });

  it('holds for the traces of this repository', () => {
    const { findings, rows } = checkTraces(dirname(import.meta.dirname));
    expect(findings.map(({ path, line, message }) => `${path}:${line} ${message}`)).toEqual([]);
    expect(rows).toBeGreaterThan(40);
  });
});
