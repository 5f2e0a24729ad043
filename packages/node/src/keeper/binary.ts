import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';

/** Where to look; everything has the machine's own value as default. */
export type NativeSearch = {
  /** A path the operator named: taken as it is, or refused. */
  readonly explicit?: string;
  /** The `native` folder of the installation. */
  readonly native?: string;
  readonly platform?: string;
  readonly arch?: string;
  readonly isExecutable?: (path: string) => boolean;
};

const canExecute = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** In the repository `native/` lies at its root; a published package has its own, beside the emitted files. */
const shippedNative = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', '..', '..', '..', 'native')
  : join(import.meta.dirname, '..', '..', 'native');

const findNative = (
  search: NativeSearch,
  { built, shipped }: { built: string; shipped: string },
): { readonly found: string | undefined; readonly places: readonly string[] } => {
  const {
    explicit,
    native = shippedNative,
    platform = process.platform,
    arch = process.arch,
    isExecutable = canExecute,
  } = search;
  const places =
    explicit === undefined
      ? [join(native, 'build', built), join(native, 'prebuilt', `${shipped}-${platform}-${arch}`)]
      : [explicit];
  return { found: places.find(isExecutable), places };
};

/**
 * The keeper program: the named one, else the one built here, else the one that is shipped for this platform. Rejects
 * with `backend_unavailable` and every place that was looked at.
 */
export const findKeeperBinary = (search: NativeSearch = {}): string => {
  const { found, places } = findNative(search, { built: 'orrery-keeper', shipped: 'orrery-keeper' });
  if (found !== undefined) return found;
  throw new OrreryError('backend_unavailable', `The keeper program is not there: ${places.join(', ')}.`, {
    rule: 'Every program runs under a keeper, a small program that is built from native/.',
    fix: 'Build it (needs a C compiler): npm run quickstart',
    details: { places },
  });
};

/**
 * The keeper program for a Linux machine of that architecture: `explicit` and what was built here are for this machine's
 * alone; others get the one that is shipped.
 */
export const findKeeperFor = (arch: string, explicit?: string): string =>
  arch === process.arch && process.platform === 'linux'
    ? findKeeperBinary(explicit === undefined ? {} : { explicit })
    : findKeeperBinary({ explicit: join(shippedNative, 'prebuilt', `orrery-keeper-linux-${arch}`) });

/** The program that tries to get out of a sandbox, found as the keeper is. */
export const findEscapeBinary = (search: NativeSearch = {}): string => {
  const { found, places } = findNative(search, { built: 'escape', shipped: 'orrery-escape' });
  if (found !== undefined) return found;
  throw new OrreryError('backend_unavailable', `The program that tries to get out is not there: ${places.join(', ')}.`, {
    rule: 'What is not tried is not claimed.',
    fix: 'Build it (needs a C compiler): npm run quickstart',
    details: { places },
  });
};
