import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { listFiles } from './source.ts';
import type { Finding } from './source.ts';

/** A place a document points at: a path from the root, perhaps a line of it, a heading in it or names declared in it. */
type Target = { path: string; line?: number; heading?: string; names?: readonly string[] };

type Mention = { at: number; shown: string; target: Target };

/** Documents whose paths in backticks are promises too, and whose links to code name what is to be found there. */
const WALKS = new Set(['docs/walk.md']);

/** Text outside fenced code, with its line numbers: code in a fence is an example. */
function proseLines(text: string): { text: string; line: number }[] {
  const lines = text.split('\n').map((line, index) => ({ text: line, line: index + 1 }));
  const prose: { text: string; line: number }[] = [];
  let fenced = false;
  for (const line of lines) {
    if (line.text.trimStart().startsWith('```')) fenced = !fenced;
    else if (!fenced) prose.push(line);
  }
  return prose;
}

function linksIn(document: string, { text, line }: { text: string; line: number }): Mention[] {
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  return links
    .filter((link) => !/^[a-z][a-z+.-]*:/i.test(link))
    .map((link) => {
      const [file = '', fragment] = link.split('#');
      const path = file === '' ? document : normalize(join(dirname(document), decodeURIComponent(file)));
      const lineNumber = /^L(\d+)/.exec(fragment ?? '')?.[1];
      return { at: line, shown: link, target: { path, ...(lineNumber ? { line: Number(lineNumber) } : { heading: fragment }) } };
    });
}

/** Links to source files with the names behind them: `[file](path) `name`, `other``. One without a name has an empty list. */
function namesIn(document: string, { text, line }: { text: string; line: number }): Mention[] {
  const named = [...text.matchAll(/\]\(([^)\s#]+\.(?:ts|mjs|c))\)((?:(?: |, | and )`[\w.]+`)*)/g)];
  return named.map(([, link = '', behind = '']) => {
    const names = [...behind.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name);
    return { at: line, shown: link, target: { path: normalize(join(dirname(document), decodeURIComponent(link))), names } };
  });
}

/** Paths in backticks: what holds a slash and only the signs of a path, with `:line` if one follows. */
function pathsIn({ text, line }: { text: string; line: number }): Mention[] {
  const inTicks = [...text.matchAll(/`([\w.@/-]+)(?::(\d+))?`/g)];
  return inTicks
    .filter(([, path = '']) => /^[\w.-]+\//.test(path) && !path.startsWith('.orrery/') && !path.startsWith('refs/'))
    .map(([shown, path = '', lineNumber]) => ({
      at: line,
      shown,
      target: { path, ...(lineNumber && { line: Number(lineNumber) }) },
    }));
}

/** The fragment a code host gives a heading. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

/** Whether a source declares a name: a variable, function, type or class, a member of an object, or a function of C. */
function declares(source: string, name: string): boolean {
  const declared = new RegExp(
    [
      `\\b(?:function\\*?|const|let|class|type)\\s+${name}\\b`,
      `^\\s*(?:readonly\\s+)?${name}\\??:`,
      `^\\s*(?:async\\s+)?${name}\\(.*\\).*\\{$`,
      `^\\s*${name},$`,
      `^[a-z][\\w *]*\\b${name}\\([^;]*$`,
    ].join('|'),
    'm',
  );
  return declared.test(source);
}

/** What is wrong with the names of a link, or undefined. */
function problemOfNames(source: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return 'is linked without the name of what is to be found there';
  const missing = names.filter((name) => !declares(source, name));
  return missing.length === 0 ? undefined : `declares no ${missing.join(', ')}`;
}

function problemOf(root: string, { path, line, heading, names }: Target): string | undefined {
  const file = join(root, path);
  if (path.startsWith('..') || !existsSync(file)) return 'does not exist';
  if (names !== undefined) return problemOfNames(readFileSync(file, 'utf8'), names);
  if (line !== undefined && readFileSync(file, 'utf8').split('\n').length < line) return `has no line ${line}`;
  if (heading === undefined || !path.endsWith('.md')) return undefined;
  const headings = proseLines(readFileSync(file, 'utf8')).flatMap(({ text }) =>
    /^#+\s+(.*)$/.exec(text)?.[1] !== undefined ? [slug(text.replace(/^#+/, ''))] : [],
  );
  return headings.includes(heading) ? undefined : `has no heading #${heading}`;
}

/** Every relative link of a Markdown document that leads nowhere, and every path and name of a walk that is not there. */
export function checkLinks(root: string): { findings: Finding[]; documents: number; mentions: number } {
  const documents = listFiles(root).filter((path) => path.endsWith('.md') && !/(^|\/)fixtures\//.test(path));
  const mentions = documents.flatMap((path) =>
    proseLines(readFileSync(join(root, path), 'utf8'))
      .flatMap((line) => [...linksIn(path, line), ...(WALKS.has(path) ? [...namesIn(path, line), ...pathsIn(line)] : [])])
      .map((mention) => ({ path, mention })),
  );
  const findings = mentions.flatMap(({ path, mention }) => {
    const problem = problemOf(root, mention.target);
    return problem === undefined ? [] : [{ rule: 'link', path, line: mention.at, message: `${mention.shown} ${problem}` }];
  });
  const once = new Map(findings.map((finding) => [`${finding.path}:${finding.line} ${finding.message}`, finding]));
  return { findings: [...once.values()], documents: documents.length, mentions: mentions.length };
}
