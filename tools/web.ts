// Builds the web client into packages/web/dist and holds it to its budget: `node tools/web.ts`. With `--if-changed` only
// when its sources are others than those it was built from.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const root = dirname(import.meta.dirname);
const web = join(root, 'packages', 'web');
const dist = join(web, 'dist');
const stampFile = join(dist, '.sources');

/** What a browser loads first, packed, bytes: a page is there at once also over a slow line. */
const BUDGET_BYTES = 300_000;

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();

/** What the client is built from. */
function stampOf(): string {
  const sources = ['packages/web/src', 'packages/web/public', 'packages/client/src', 'packages/protocol/src'];
  const files = [
    ...sources.flatMap((folder) => filesBelow(join(root, folder))),
    ...['packages/web/index.html', 'tools/vite.web.config.ts', 'package-lock.json'].map((path) => join(root, path)),
  ];
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file.slice(root.length)}\n`).update(readFileSync(file));
  return hash.digest('hex');
}

/** Packed bytes of what the built page in `folder` loads by itself: what a page asks for later is not among it. */
function firstLoadBytes(folder: string = dist): number {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path ?? '');
  const loaded = new Set(named);
  for (const path of loaded)
    for (const [, other] of readFileSync(join(folder, path), 'utf8').matchAll(
      /\bimport\s*(?:[^"'();]*?from)?\s*["']\.\/([^"']+\.js)["']/g,
    ))
      loaded.add(`assets/${other}`);
  return ['index.html', ...loaded].reduce((sum, path) => sum + gzipSync(readFileSync(join(folder, path))).length, 0);
}

/** Holds the built page in `folder` to its budget. */
export function checkBudget(folder: string = dist): number {
  const bytes = firstLoadBytes(folder);
  if (bytes <= BUDGET_BYTES) return bytes;
  throw new Error(
    `The web client loads ${bytes} bytes first; its budget is ${BUDGET_BYTES}. Take something out, or load it later.`,
  );
}

async function make(): Promise<void> {
  const stamp = stampOf();
  if (process.argv.includes('--if-changed') && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  process.stderr.write('[orrery] web client: building ...\n');
  const { build } = await import('vite');
  await build({ configFile: join(import.meta.dirname, 'vite.web.config.ts') });
  const bytes = checkBudget();
  writeFileSync(stampFile, stamp);
  process.stderr.write(`[orrery] web client: built, ${Math.round(bytes / 1000)} kB packed\n`);
}

if (import.meta.main) await make();
