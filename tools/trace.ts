// Whether the tests that the trace documents name are there. A row of a trace is a statement and what holds it: tests
// (`path` "title", several after <br>), or `moot: …` or `not yet: …` with a reason.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSource, walk } from './source.ts';
import type { Finding } from './source.ts';

const FOLDER = 'docs/trace';
const TEST = /`([^`]+)` "(.+?)"(?=<br>|\)|$)/g;

/** The rows of a document's tables, with their lines. */
function rowsOf(text: string): { line: number; cells: string[] }[] {
  return text
    .split('\n')
    .map((row, index) => ({ line: index + 1, row }))
    .filter(({ row }) => row.startsWith('| ') && !row.startsWith('|---') && !row.startsWith('| statement '))
    .map(({ line, row }) => ({
      line,
      cells: row
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    }));
}

/** Every text of a source: titles of tests are among them. */
function textsOf(root: string, path: string): Set<string> {
  const texts = new Set<string>();
  walk(readSource(root, path).program, (node) => {
    if (node.type === 'Literal' && typeof node.value === 'string') texts.add(node.value);
    if (node.type === 'TemplateElement') texts.add(node.value.cooked ?? '');
  });
  return texts;
}

function problemsOf(root: string, held: string): string[] {
  const tests = [...held.matchAll(TEST)].map((match) => ({ path: match[1] ?? '', title: match[2] ?? '' }));
  const reason = /^(moot|not yet): \S/.test(held);
  if (tests.length === 0 && !reason) return ['names no test, and is neither "moot: …" nor "not yet: …"'];
  const named = held.split('<br>').length;
  if (!reason && tests.length !== named) return [`has ${named} parts, of which ${tests.length} are read as \`path\` "title"`];
  return tests.flatMap(({ path, title }) => {
    if (!existsSync(join(root, path))) return [`${path} does not exist`];
    return textsOf(root, path).has(title) ? [] : [`${path} has no test "${title}"`];
  });
}

/** What is wrong in the traces below a root, and how many rows there are. */
export function checkTraces(root: string): { findings: Finding[]; rows: number } {
  const documents = existsSync(join(root, FOLDER)) ? readdirSync(join(root, FOLDER)).filter((name) => name.endsWith('.md')) : [];
  let rows = 0;
  const findings = documents.flatMap((name) =>
    rowsOf(readFileSync(join(root, FOLDER, name), 'utf8')).flatMap(({ line, cells: [statement = '', held = ''] }) => {
      rows += 1;
      const problems = statement === '' ? ['has no statement'] : problemsOf(root, held);
      return problems.map((message) => ({ path: `${FOLDER}/${name}`, line, rule: 'trace', message }));
    }),
  );
  return { findings, rows };
}
