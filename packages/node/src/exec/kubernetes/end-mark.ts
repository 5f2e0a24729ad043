// Proof that a command's output came whole: its connection may end early and still look like an end.
import { randomBytes } from 'node:crypto';
import { Duplex, Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import type { PlaceProcess } from '../remote/place.ts';

const CODE_DIGITS = 3;
// The command's own words are parameters; what it is asked to print last is one too.
const MARKED = '"$@"; code=$?; printf "%s%03d" "$0" "$code"; exit "$code"';

/** A command that prints a word nobody knows and its exit code after everything else. */
export const marked = (argv: readonly string[]): { readonly argv: readonly string[]; readonly mark: string } => {
  const mark = randomBytes(12).toString('hex');
  return { argv: ['sh', '-c', MARKED, mark, ...argv], mark };
};

/** Passes output on without its mark. `code` is the exit code that came with it, or null when it did not come: output is missing. */
export const markReader = (mark: string): { readonly output: Transform; code(): number | null } => {
  const length = mark.length + CODE_DIGITS;
  let held = Buffer.alloc(0);
  let code: number | null = null;
  const output = new Transform({
    transform: (bytes: Buffer, _encoding, done) => {
      held = Buffer.concat([held, bytes]);
      const ready = held.length - length;
      if (ready <= 0) return done();
      const part = held.subarray(0, ready);
      held = held.subarray(ready);
      return done(null, part);
    },
    flush: (done) => {
      const last = held.toString('latin1');
      if (held.length === length && last.startsWith(mark)) {
        code = Number(last.slice(mark.length));
        return done();
      }
      return done(null, held);
    },
  });
  return { output, code: () => code };
};

/** The same process, whose end is known only by its mark. */
export const endingByMark = (process: PlaceProcess, mark: string): PlaceProcess => {
  const reader = markReader(mark);
  const passed = pipeline(process.stdio, reader.output).catch(() => undefined);
  const ended = (async () => {
    const end = await process.ended;
    await passed;
    await finished(reader.output, { readable: false }).catch(() => undefined);
    const code = reader.code();
    if (code !== null) return { exitCode: code };
    return 'lost' in end ? end : { lost: 'its output was cut off' };
  })();
  const stdio = Duplex.from({ readable: reader.output, writable: process.stdio });
  stdio.on('error', () => undefined);
  return { stdio, stderr: process.stderr, ended, close: process.close };
};
