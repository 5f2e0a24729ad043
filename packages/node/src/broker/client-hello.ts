// The server name of a TLS ClientHello (RFC 8446 §4.1.2, RFC 6066 §3), read from the first bytes of a connection.

/** What the first bytes are. `more`: not enough yet. */
export type Hello =
  | { readonly kind: 'more' }
  | { readonly kind: 'not-tls' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'tls'; readonly serverName: string | null };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;

/** Reads the name; the hello may be spread over several records. Never throws. */
export const readClientHello = (bytes: Buffer): Hello => {
  if (bytes.length === 0) return { kind: 'more' };
  if (bytes[0] !== HANDSHAKE) return { kind: 'not-tls' };
  const message = handshakeOf(bytes);
  if (message === 'more') return { kind: 'more' };
  if (message === null || message[0] !== CLIENT_HELLO) return { kind: 'malformed' };
  try {
    return { kind: 'tls', serverName: serverNameOf(message) };
  } catch {
    return { kind: 'malformed' };
  }
};

/** The first handshake message, put together from its records. */
const handshakeOf = (bytes: Buffer): Buffer | 'more' | null => {
  const parts: Buffer[] = [];
  let have = 0;
  for (let at = 0; ;) {
    const whole = have >= 4 ? messageLength(parts) : null;
    if (whole !== null && have >= whole) return Buffer.concat(parts).subarray(0, whole);
    if (bytes.length < at + 5) return 'more';
    if (bytes[at] !== HANDSHAKE || bytes[at + 1] !== 3) return null;
    const length = bytes.readUInt16BE(at + 3);
    if (length === 0 || length > 16_640) return null;
    if (bytes.length < at + 5 + length) return 'more';
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    have += length;
    at += 5 + length;
  }
};

const messageLength = (parts: readonly Buffer[]): number => 4 + Buffer.concat(parts).readUIntBE(1, 3);

/** Walks the hello; a length that points outside throws. */
const serverNameOf = (message: Buffer): string | null => {
  let at = 4 + 2 + 32;
  at += 1 + message.readUInt8(at);
  at += 2 + message.readUInt16BE(at);
  at += 1 + message.readUInt8(at);
  if (at === message.length) return null;
  const end = at + 2 + message.readUInt16BE(at);
  for (at += 2; at < end;) {
    const type = message.readUInt16BE(at);
    const length = message.readUInt16BE(at + 2);
    if (type === SERVER_NAME) return hostNameIn(message.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return null;
};

const hostNameIn = (list: Buffer): string => {
  if (list.readUInt8(2) !== 0) throw new RangeError('no host name');
  const length = list.readUInt16BE(3);
  if (5 + length > list.length) throw new RangeError('name past its list');
  return list.subarray(5, 5 + length).toString('latin1');
};
