// Glossary. A bomb is a commit of an agent's that is small on the disk and huge for whoever unpacks it. Each is made of real
// objects, byte by byte, as no Git command would make them, and is left as the commit that HEAD names.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { gitIn } from './git-shapes.ts';

const types = { commit: 1, tree: 2, blob: 3 } as const;
type ObjectType = keyof typeof types;

const nameOf = (type: ObjectType, body: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha1').update(`${type} ${body.reduce((sum, part) => sum + part.length, 0)}\0`);
  for (const part of body) hash.update(part);
  return hash.digest();
};

const writeLoose = (tree: string, type: ObjectType, body: Uint8Array): Buffer => {
  const name = nameOf(type, [body]);
  const hex = name.toString('hex');
  const folder = join(tree, '.git/objects', hex.slice(0, 2));
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).includes(hex.slice(2))) return name;
  writeFileSync(
    join(folder, hex.slice(2)),
    deflateSync(Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]), { level: 1 }),
  );
  return name;
};

const entry = (mode: string, name: string, object: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), object]);

const commitOf = (tree: string, root: Buffer): void => {
  const who = 'agent <agent@localhost> 1700000000 +0000';
  const parent = gitIn(tree, 'rev-parse', 'HEAD');
  const text = `tree ${root.toString('hex')}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\nbomb\n`;
  const name = writeLoose(tree, 'commit', Buffer.from(text));
  gitIn(tree, 'update-ref', 'HEAD', name.toString('hex'));
};

/** A commit whose tree has one folder of so many bytes: nothing but names that sort. */
export const treeBomb = (tree: string, bytes: number): void => {
  const file = writeLoose(tree, 'blob', Buffer.from('x\n'));
  const one = entry('100644', '00000000', file);
  const folder = Buffer.concat(Array.from({ length: Math.ceil(bytes / one.length) }, () => one));
  for (let at = 0, index = 0; at < folder.length; at += one.length, index++)
    folder.write(String(index).padStart(8, '0'), at + 7, 'latin1');
  commitOf(tree, writeLoose(tree, 'tree', entry('40000', 'folder', writeLoose(tree, 'tree', folder))));
};

/** A commit with one file of so many equal bytes. */
export const fileBomb = (tree: string, bytes: number): void =>
  commitOf(tree, writeLoose(tree, 'tree', entry('100644', 'large', writeLoose(tree, 'blob', Buffer.alloc(bytes, 'y')))));

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) | 128);
  return Buffer.from([...bytes, left]);
};

/** The head of a packed object: three bits of type, the size in groups of 4, 7, 7, … bits. */
const packHead = (type: number, size: number): Buffer => {
  const rest = Math.floor(size / 16);
  const first = (type << 4) | (size % 16);
  return rest === 0 ? Buffer.from([first]) : Buffer.concat([Buffer.from([first | 128]), varint(rest)]);
};

const COPIED = 0x10000;

/** A commit with one file of so many bytes, in a pack of a few kilobytes: a delta that copies the same block again and again. */
export const deltaBomb = (tree: string, bytes: number): void => {
  const times = Math.ceil(bytes / COPIED);
  const base = Buffer.alloc(COPIED, 'z');
  // A copy without size bytes is one of 65,536 bytes from the start.
  const delta = Buffer.concat([varint(COPIED), varint(times * COPIED), Buffer.alloc(times, 0x80)]);
  const baseName = nameOf('blob', [base]);
  const body = Buffer.concat([
    Buffer.from('PACK'),
    Buffer.from([0, 0, 0, 2, 0, 0, 0, 2]),
    packHead(types.blob, base.length),
    deflateSync(base),
    packHead(7, delta.length),
    baseName,
    deflateSync(delta),
  ]);
  const trailer = createHash('sha1').update(body).digest();
  writeFileSync(join(tree, '.git/objects/pack', `pack-${trailer.toString('hex')}.pack`), Buffer.concat([body, trailer]));
  const large = nameOf(
    'blob',
    Array.from({ length: times }, () => base),
  );
  commitOf(tree, writeLoose(tree, 'tree', entry('100644', 'large', large)));
};
