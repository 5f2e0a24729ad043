// The web client's files, read once and kept as they are sent. Every path that is no file is a page of it: its address is
// its state, and a page that was kept as a bookmark opens again.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { OrreryError } from '@orrery/protocol/errors';

/** All files of the web client together, kept in memory as they are sent. */
const PAGES_BYTES = 16 * 1024 * 1024;

export type Pages = {
  /** The file or page of a path. */
  answer(path: string, asked: { readonly encodings: string; readonly tag: string | undefined }): Response;
};

/** What a page may do: load its own files and talk to its own node, nothing else. */
const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; connect-src 'self'; font-src 'self'",
  "img-src 'self' data: blob:; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

type File = { readonly bytes: Uint8Array; readonly packed: Uint8Array | null; readonly tag: string; readonly type: string };

/** Reads a built client. Null when there is none. @throws OrreryError limit_reached, config_invalid for one that is not whole */
export const readPages = async (folder: string): Promise<Pages | null> => {
  const names = await namesBelow(folder);
  if (names === null) return null;
  const files = new Map<string, File>();
  let size = 0;
  for (const name of names) {
    const file = await readOne(join(folder, name));
    size += file.bytes.length;
    if (size > PAGES_BYTES)
      throw new OrreryError('limit_reached', `The web client in ${folder} is too large.`, {
        rule: `Its files have at most ${PAGES_BYTES} bytes together.`,
        fix: 'Build it anew: node tools/web.ts',
      });
    files.set(`/${name}`, file);
  }
  const page = files.get('/index.html');
  if (page === undefined)
    throw new OrreryError('config_invalid', `The web client in ${folder} has no index.html.`, {
      rule: 'The client is built as a whole.',
      fix: 'Build it anew: node tools/web.ts',
    });
  return {
    answer: (path, asked) =>
      answerWith(files.get(path) ?? page, { ...asked, lasting: path.startsWith('/assets/') && files.has(path) }),
  };
};

const namesBelow = async (folder: string): Promise<string[] | null> => {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
};

const pack = promisify(gzip);

const readOne = async (path: string): Promise<File> => {
  const bytes = await readFile(path);
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  const packed = /^(text|application|image\/svg)/.test(type) ? await pack(bytes) : null;
  return { bytes, packed, type, tag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"` };
};

const answerWith = (
  file: File,
  { encodings, tag, lasting }: { readonly encodings: string; readonly tag: string | undefined; readonly lasting: boolean },
): Response => {
  const headers: Record<string, string> = {
    'content-security-policy': POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    // The name of a lasting file changes with its content.
    'cache-control': lasting ? 'private, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
    etag: file.tag,
  };
  if (tag === file.tag) return new Response(null, { status: 304, headers });
  const packed = /\bgzip\b/.test(encodings) ? file.packed : null;
  return new Response(new Uint8Array(packed ?? file.bytes), {
    status: 200,
    headers: { ...headers, 'content-type': file.type, ...(packed === null ? {} : { 'content-encoding': 'gzip' }) },
  });
};
