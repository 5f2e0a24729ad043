// The engine sends stdout and stderr of a command over one connection, in frames: stream (1), zeros (3), length (4), bytes.
const HEADER = 8;
const STDERR = 2;

/**
 * What of `source` is stdout, piece by piece as it comes; stderr goes to `onStderr`. Reads on only when it is asked for
 * more, so that a slow reader slows the command. Rejects when the connection ends within a frame.
 */
export async function* demux(source: AsyncIterable<Buffer>, onStderr: (bytes: Buffer) => void): AsyncGenerator<Buffer> {
  let header = Buffer.alloc(0);
  let stream = 0;
  let left = 0;
  for await (const part of source) {
    let rest = part;
    while (rest.length > 0) {
      if (left === 0) {
        const wanted = HEADER - header.length;
        header = Buffer.concat([header, rest.subarray(0, wanted)]);
        rest = rest.subarray(wanted);
        if (header.length < HEADER) break;
        stream = header[0]!;
        left = header.readUInt32BE(4);
        header = Buffer.alloc(0);
        continue;
      }
      const bytes = rest.subarray(0, left);
      left -= bytes.length;
      rest = rest.subarray(bytes.length);
      if (stream === STDERR) onStderr(bytes);
      else yield bytes;
    }
  }
  if (left > 0 || header.length > 0) throw new Error('the connection ended within a frame');
}
