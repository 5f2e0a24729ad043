import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { readPages, type Pages } from './pages.ts';

const folder = mkdtempSync(join(tmpdir(), 'pages-'));
afterAll(() => rmSync(folder, { recursive: true }));

const made = async (name: string, files: Readonly<Record<string, string>>): Promise<Pages | null> => {
  const root = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return readPages(root);
};
const plain = { encodings: '', tag: undefined };

describe('the web client', () => {
  it('is its files, and every other path is its page', async () => {
    const pages = await made('whole', { 'index.html': '<p>page</p>', 'assets/a-1.js': 'run()' });
    expect(await pages!.answer('/sessions/x', plain).text()).toBe('<p>page</p>');
    const script = pages!.answer('/assets/a-1.js', plain);
    expect([await script.text(), script.headers.get('content-type')]).toEqual(['run()', 'text/javascript; charset=utf-8']);
    expect(script.headers.get('cache-control')).toContain('immutable');
    expect(pages!.answer('/assets/gone.js', plain).headers.get('cache-control')).toBe('no-cache');
    expect(await pages!.answer('/../../etc/passwd', plain).text()).toBe('<p>page</p>');
  });

  it('may run its own scripts alone, and be framed by nobody', async () => {
    const pages = await made('whole', {});
    const policy = pages!.answer('/', plain).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe/);
  });

  it('is packed for who asks for that, and not sent again to who has it', async () => {
    const pages = await made('whole', {});
    const packed = pages!.answer('/', { encodings: 'br, gzip', tag: undefined });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe('<p>page</p>');
    expect(pages!.answer('/', plain).headers.get('content-encoding')).toBeNull();
    const again = pages!.answer('/', { encodings: '', tag: packed.headers.get('etag') ?? '' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('that was not built is not there, and half a one is refused', async () => {
    expect(await readPages(join(folder, 'nothing'))).toBeNull();
    await expect(made('half', { 'assets/a.js': '' })).rejects.toMatchObject({ code: 'config_invalid' });
  });
});
