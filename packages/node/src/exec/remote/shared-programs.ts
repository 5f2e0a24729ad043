// Programs in the shared folder of places: carried there once for what they hold, found again by every environment.
//   <shared>/<digest>.<nonce>/{<name>, seal}
// An entry counts once it has its seal, which is written last: the sum of the list of what was unpacked, with the times and
// numbers that the file system gave it. What was touched since then has another sum. Whoever was ended in the middle leaves
// an entry without a seal; two nodes at once make two entries. An environment has a link to the one it uses.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { OrreryError } from '@orrery/protocol/errors';
import { randomHex, systemRandom } from '../../kernel/random.ts';
import type { LocalTrees } from '../../keeper/trees.ts';
import { mustRun, unreachable } from './command.ts';
import { STAGE_MS } from './limits.ts';
import { readListing } from './listing.ts';
import type { Entry } from './listing.ts';
import type { PathPair } from './paths.ts';
import { patiently } from './patience.ts';
import type { Line } from './patience.ts';
import type { SharedFolder, SharedWriter } from './place.ts';

/** Carries programs to shared folders. One for a backend: it remembers the digests of folders that did not change. */
export type SharedPrograms = {
  /** Makes `pair.inside` a link to the folder of this machine as the shared folder of the place has it, brought when it has none. */
  bring(line: Line, shared: SharedFolder, pair: PathPair): Promise<void>;
};

// The keeper, the shared folder, the digest, the link, the name. The link first: what a link leads to is not cleared away.
const FIND = `
umask 077
mkdir -p -- "\${4%/*}" || exit 1
for one in "$2/$3".*; do
  [ -f "$one/seal" ] || continue
  rm -f -- "$4" && ln -s -- "$one/$5" "$4" || exit 1
  if sum=$("$1" list "$one/$5" | sha256sum) && [ "$sum" = "$(cat -- "$one/seal")" ]; then
    touch -- "$one" 2>/dev/null
    echo there
    exit 0
  fi
  rm -f -- "$4" "$one/seal" 2>/dev/null
done
echo absent
`;

// The keeper, the entry, the name. Says the sum of what arrived.
const TAKE = `
umask 077
mkdir -p -- "$2" && mkfifo "$2/passing" || exit 1
sha256sum < "$2/passing" > "$2/sum" &
tee -- "$2/passing" | "$1" unpack "$2/$3" --make || { rm -rf -- "$2"; exit 1; }
wait
rm -f -- "$2/passing"
cat -- "$2/sum"
`;

// The keeper, the entry, the name.
const SEAL = `
umask 077
sum=$("$1" list "$2/$3" | sha256sum) && printf '%s\\n' "$sum" > "$2/seal.new" && mv -f -- "$2/seal.new" "$2/seal"
`;

// The shared folder, days, and the folder of all environments. Nothing that was used of late goes, or that one of them leads to; where
// nobody can tell, nothing but what was never sealed.
const CLEAR = `
umask 077
for one in "$1"/*.*; do
  [ -d "$one" ] || continue
  days=$2
  [ -f "$one/seal" ] || days=1
  [ -n "$3" ] || [ ! -f "$one/seal" ] || continue
  [ -n "$(find "$one" -maxdepth 0 -mtime +$days 2>/dev/null)" ] || continue
  for link in "$3"/*/*/carried/*/*; do
    case $(readlink -- "$link" 2>/dev/null) in "$one"/*) continue 2 ;; esac
  done
  mv -- "$one" "$1/gone-$$" || continue
  chmod -R u+rwX -- "$1/gone-$$"
  rm -rf -- "$1/gone-$$"
done
exit 0
`;

/** What nobody used for so long is carried again when it is wanted. */
const UNUSED_DAYS = 14;

const fieldsOf = ({ stamp }: Entry): readonly string[] => {
  const [type = '', mode = '', size = '', ...rest] = stamp.split('\0');
  return [type, mode, type === 'd' ? '' : size, rest.at(-1) ?? ''];
};

/** What a folder holds, whenever and by whom it was made. */
const digestOf = async (local: string, entries: Iterable<Entry>): Promise<string> => {
  const hash = createHash('sha256');
  for (const entry of [...entries].toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    hash.update(Buffer.from(`${[entry.path, ...fieldsOf(entry)].join('\0')}\0`, 'latin1'));
    if (entry.type !== 'f') continue;
    const path = Buffer.concat([Buffer.from(`${local}/`), Buffer.from(entry.path, 'latin1')]);
    for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) hash.update(bytes);
  }
  return hash.digest('hex').slice(0, 32);
};

const summing = (): { readonly through: Transform; sum(): string } => {
  const hash = createHash('sha256');
  const through = new Transform({
    transform: (bytes: Buffer, _encoding, done) => {
      hash.update(bytes);
      done(null, bytes);
    },
  });
  return { through, sum: () => hash.digest('hex') };
};

type Wanted = { readonly local: string; readonly name: string; readonly digest: string };

/** Carries it into an entry of its own. */
const carry = async (trees: LocalTrees, writer: SharedWriter, wanted: Wanted & { readonly folder: string }): Promise<void> => {
  const entry = `${wanted.folder}/${wanted.digest}.${randomHex(systemRandom, 6)}`;
  const words = [writer.keeper, entry, wanted.name];
  const { archive, done } = trees.pack(wanted.local);
  const { through, sum } = summing();
  const sent = pipeline(archive, through);
  for (const work of [done, sent]) work.catch(() => undefined);
  try {
    const argv = ['sh', '-c', TAKE, 'sh', ...words];
    const said = await mustRun(writer, argv, { what: `Bringing ${wanted.local}`, stdin: through, timeoutMs: STAGE_MS });
    await Promise.all([done, sent]);
    if (said.toString().split(' ')[0] !== sum()) throw unreachable('an archive did not arrive whole');
  } finally {
    archive.destroy();
  }
  await mustRun(writer, ['sh', '-c', SEAL, 'sh', ...words], { what: `Sealing ${wanted.local}`, timeoutMs: STAGE_MS });
};

const notKept = (local: string): OrreryError =>
  new OrreryError('backend_unavailable', `The place does not keep what was brought there of ${local}.`, {
    rule: 'What environments share is sealed when it is brought, and checked before it is used.',
    fix: 'See what changes files in the shared folder there; then try again.',
  });

/** None is known at first. */
export const createSharedPrograms = (trees: LocalTrees): SharedPrograms => {
  const known = new Map<string, { readonly list: string; readonly digest: Promise<string> }>();
  const digestNow = async (local: string): Promise<string> => {
    const bytes = await trees.list(local, []);
    const list = createHash('sha256').update(bytes).digest('hex');
    const before = known.get(local);
    if (before?.list === list) return before.digest;
    const digest = digestOf(local, readListing(bytes).values());
    known.set(local, { list, digest });
    digest.catch(() => known.delete(local));
    return digest;
  };
  const find = async ({ place, layout }: Line, shared: SharedFolder, given: Wanted & { inside: string }): Promise<boolean> => {
    const argv = ['sh', '-c', FIND, 'sh', layout.keeper, shared.path, given.digest, given.inside, given.name];
    return (await mustRun(place, argv, { what: 'Looking for a program', timeoutMs: STAGE_MS })).toString().trim() === 'there';
  };
  return {
    bring: async (line, shared, { local, inside }) => {
      const wanted = { local, inside, name: inside.slice(inside.lastIndexOf('/') + 1), digest: await digestNow(local) };
      await patiently(line, async () => {
        if (await find(line, shared, wanted)) return;
        const writer = await shared.writer();
        try {
          await mustRun(writer, ['sh', '-c', CLEAR, 'sh', shared.path, String(UNUSED_DAYS), shared.environments ?? ''], {
            what: 'Clearing away unused programs',
          });
          await carry(trees, writer, { ...wanted, folder: shared.path });
        } finally {
          await writer.close();
        }
        if (!(await find(line, shared, wanted))) throw notKept(local);
      });
    },
  };
};
