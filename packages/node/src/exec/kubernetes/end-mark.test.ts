import { spawnSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { markReader, marked } from './end-mark.ts';

const read = async (mark: string, chunks: readonly Buffer[]) => {
  const reader = markReader(mark);
  const output = await buffer(Readable.from(chunks).pipe(reader.output));
  return { output: output.toString('latin1'), code: reader.code() };
};

describe('the mark at the end of an output', () => {
  it('is printed by the shell after everything else, with the exit code, whatever the command is', () => {
    for (const [script, output, code] of [
      ['printf "a b"; exit 7', 'a b', 7],
      ['exit 255', '', 255],
    ] as const) {
      const { argv, mark } = marked(['sh', '-c', script, 'a "quoted" $word']);
      const { stdout, status } = spawnSync(argv[0]!, argv.slice(1), { encoding: 'latin1' });
      expect([stdout, status]).toEqual([`${output}${mark}${String(code).padStart(3, '0')}`, code]);
    }
  });

  it('is taken away however the output is cut into pieces', async () => {
    const { mark } = marked([]);
    const whole = Buffer.from(`some output${mark}007`);
    for (let size = 1; size <= whole.length; size += 1) {
      const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
        whole.subarray(index * size, (index + 1) * size),
      );
      expect(await read(mark, chunks)).toEqual({ output: 'some output', code: 7 });
    }
  });

  it('is missing when anything of the output is', async () => {
    const { mark } = marked([]);
    const whole = Buffer.from(`some output${mark}000`);
    for (let end = 0; end < whole.length; end += 1) expect((await read(mark, [whole.subarray(0, end)])).code).toBeNull();
  });
});
