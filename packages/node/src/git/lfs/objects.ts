// Glossary. The objects of a project lie beside those of its mirror, in the layout of Git LFS, each under its SHA-256. Each is
// read and compared again whenever a checkout gets it.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, stat, unlink, utimes, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lookAt, isErrno } from '../../files/tree-walk.ts';
import { LFS_CACHE_BYTES, LFS_REDIRECTS } from '../limits.ts';
import type { Download } from './batch.ts';
import type { Pointer } from './pointer.ts';
import { lfsRequest, type LfsNet } from './request.ts';
import { lfsRefused } from './server.ts';

/** Where an object of a mirror, or of a user's Git directory, lies. */
export const objectPath = (gitDir: string, oid: string): string =>
  join(gitDir, 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);

/** What a file's content is: its SHA-256, and its name as a blob of Git. Null when it is no plain file of that size. */
export const contentOf = async (path: string, size: number): Promise<{ readonly oid: string; readonly blob: string } | null> => {
  const found = lookAt(path);
  if (found?.isFile() !== true || found.size !== size) return null;
  const oid = createHash('sha256');
  const blob = createHash('sha1').update(`blob ${size}\0`);
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const stream = file.createReadStream({ highWaterMark: 1 << 20 });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    oid.update(chunk);
    blob.update(chunk);
  }
  return { oid: oid.digest('hex'), blob: blob.digest('hex') };
};

/** Fetches one object into the mirror's folder: whole and with the right hash, or not at all. */
export const fetchObject = async (net: LfsNet, mirror: string, download: Download): Promise<void> => {
  const target = objectPath(mirror, download.oid);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const half = `${target}.part`;
  // Left by a start that was cut off.
  await unlink(half).catch(ignoreMissing);
  const file = await open(half, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    await receive(net, download, file);
    await file.sync();
  } catch (thrown) {
    await file.close();
    await unlink(half).catch(ignoreMissing);
    throw thrown;
  }
  await file.close();
  await rename(half, target);
};

const ignoreMissing = (thrown: unknown): void => {
  if (!isErrno(thrown, 'ENOENT')) throw thrown;
};

const rule = 'An object is taken when it has the size and the SHA-256 that the commit names.';

const receive = async (net: LfsNet, download: Download, file: FileHandle): Promise<void> => {
  const { oid, size } = download;
  const answer = await openDownload(net, download);
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > size) break;
      hash.update(chunk);
      await file.write(chunk);
    }
  } catch (thrown) {
    throw lfsRefused(`the object ${oid.slice(0, 12)}… broke off after ${bytes} of ${size} bytes`, rule, thrown);
  }
  if (bytes > size) throw lfsRefused(`the object ${oid.slice(0, 12)}… is larger than its ${size} bytes`, rule);
  if (bytes !== size || hash.digest('hex') !== oid)
    throw lfsRefused(`what came for the object ${oid.slice(0, 12)}… is something else (${bytes} of ${size} bytes)`, rule);
};

const openDownload = async (net: LfsNet, { oid, url, headers }: Download) => {
  let at: Pick<Download, 'url' | 'headers'> = { url, headers };
  for (let hops = 0; hops <= LFS_REDIRECTS; hops++) {
    const answer = await lfsRequest(net, { ...at, method: 'GET' }).catch((thrown: unknown) => {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      throw lfsRefused(`${at.url.host} does not give the object ${oid.slice(0, 12)}… (${why})`, rule, thrown);
    });
    if (answer.statusCode === 200) return answer;
    answer.destroy();
    const location = answer.headers.location ?? '';
    if (![301, 302, 303, 307, 308].includes(answer.statusCode ?? 0) || !URL.canParse(location, at.url.href))
      throw lfsRefused(`${at.url.host} answered ${answer.statusCode} for the object ${oid.slice(0, 12)}…`, rule);
    const next = new URL(location, at.url);
    at = { url: next, headers: next.host === at.url.host ? at.headers : {} };
  }
  throw lfsRefused(`the object ${oid.slice(0, 12)}… is sent on more than ${LFS_REDIRECTS} times`, rule);
};

/** Says that objects were used now. */
export const touchObjects = async (mirror: string, pointers: readonly Pointer[], nowMs: number): Promise<void> => {
  for (const { oid } of pointers) await utimes(objectPath(mirror, oid), nowMs / 1000, nowMs / 1000);
};

/** Takes away objects that were not used for longest, until all fit; those of `keep` stay. */
export const trimObjects = async (mirror: string, keep: ReadonlySet<string>, bytes = LFS_CACHE_BYTES): Promise<void> => {
  const root = join(mirror, 'lfs/objects');
  const names = await readdir(root, { recursive: true }).catch(() => []);
  const files = [];
  for (const name of names) {
    const found = await stat(join(root, name));
    if (found.isFile()) files.push({ name, size: found.size, usedMs: found.mtimeMs });
  }
  let over = files.reduce((sum, { size }) => sum + size, 0) - bytes;
  for (const { name, size } of files.toSorted((a, b) => a.usedMs - b.usedMs)) {
    if (over <= 0) return;
    if (keep.has(name.slice(name.lastIndexOf('/') + 1))) continue;
    await unlink(join(root, name));
    over -= size;
  }
};
