import { OrreryError } from '@orrery/protocol/errors';

/** Refuses what is not declared as JSON: a form of another site cannot send that without asking first. Throws 415. */
export const checkContentType = (header: string | null): void => {
  if (/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(header ?? '')) return;
  throw new OrreryError('unsupported_media_type', 'The body is not declared as JSON.', {
    rule: 'Writes have the header "content-type: application/json".',
  });
};

/** Refuses a file that is not declared as one, for the same reason. Throws 415. */
export const checkFileType = (header: string | null): void => {
  if (/^application\/octet-stream$/i.test(header ?? '')) return;
  throw new OrreryError('unsupported_media_type', 'The body is not declared as a file.', {
    rule: 'Files are sent with the header "content-type: application/octet-stream"; what they are, their bytes say.',
  });
};

/** Reads a body of at most `limitBytes`, as JSON. Throws 413, `empty_input`, or 400 for what is not UTF-8 or not JSON. */
export const readJson = async (request: Request, limitBytes: number): Promise<unknown> => {
  const bytes = await readBytes(request, limitBytes);
  if (bytes.length === 0)
    throw new OrreryError('empty_input', 'The request has no body.', { rule: 'Writes have a JSON body; {} is the smallest.' });
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new OrreryError('invalid_input', 'The body is not UTF-8.', { rule: 'JSON is sent as UTF-8.' });
  }
  try {
    return JSON.parse(text);
  } catch (thrown) {
    // The parser's own words quote the body: only the place is taken from them.
    const position = /position (\d+)/.exec(thrown instanceof Error ? thrown.message : '')?.[1];
    throw new OrreryError('invalid_input', `The body is not JSON${position === undefined ? '' : ` (at character ${position})`}.`);
  }
};

const readBytes = async (request: Request, limitBytes: number): Promise<Uint8Array> => {
  const declared = request.headers.get('content-length');
  if (declared !== null) {
    if (Number(declared) > limitBytes) throw tooLarge(limitBytes);
    // The server ends a body at its declared length.
    return new Uint8Array(await request.arrayBuffer());
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limitBytes) throw tooLarge(limitBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

const tooLarge = (limitBytes: number): OrreryError =>
  new OrreryError('input_too_large', 'The body of the request is too large.', {
    rule: `A body has at most ${limitBytes} bytes.`,
    details: { limitBytes },
  });
