import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tarOf, tarStream } from './tar.ts';
import type { TarPart } from './tar.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orrery-tar-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const whole = async (parts: readonly TarPart[]): Promise<Buffer> => Buffer.concat(await Array.fromAsync(tarStream(parts)));

describe('an archive that is made while it is read', () => {
  it('is the one of the same bytes at hand', async () => {
    const [one, two] = [Buffer.from('one'), Buffer.alloc(100_000, 7)];
    writeFileSync(join(directory, 'two'), two);
    const parts: TarPart[] = [
      { name: 'a/one', mode: 0o644, from: one },
      { name: 'a/two', mode: 0o400, from: join(directory, 'two') },
    ];
    const files = [
      { name: 'a/one', mode: 0o644, bytes: one },
      { name: 'a/two', mode: 0o400, bytes: two },
    ];
    expect((await whole(parts)).equals(tarOf(files))).toBe(true);
  });

  it.each([0, 3_000_000])('breaks off when a file is cut or grows to %i bytes meanwhile', async (bytes) => {
    const from = join(directory, 'changing');
    writeFileSync(from, Buffer.alloc(1_000_000));
    const stream = tarStream([{ name: 'changing', mode: 0o400, from }]);
    await stream.next();
    truncateSync(from, bytes);
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: 'internal' });
  });

  it('says in base 256 what octal digits cannot', async () => {
    const from = join(directory, 'large');
    writeFileSync(from, '');
    truncateSync(from, 8 ** 11);
    const { value } = await tarStream([{ name: 'large', mode: 0o400, from }]).next();
    expect(Buffer.from(value!).subarray(124, 136).toString('hex')).toBe('800000000000000200000000');
  });
});
