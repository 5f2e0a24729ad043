// What every confined program may touch of the machine. Deny by default: each line is here because real programs fail
// without it, and none of them shows a secret even to uid 0, which reads files of any mode that are granted.
import type { PathAccess } from '../../keeper/types.ts';
import type { PathGrant } from '../backend.ts';

const PROGRAMS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/opt', '/nix/store'];

/**
 * The readable part of /etc. Never the directory itself: a confined program of uid 0 would read shadow, host keys,
 * private keys, sudoers and the configuration of every service.
 */
const SETTINGS = [
  'alternatives',
  'bash.bashrc',
  'ca-certificates',
  'ca-certificates.conf',
  'crypto-policies',
  'debian_version',
  'fonts',
  'gai.conf',
  'gitconfig',
  'group',
  'host.conf',
  'hostname',
  'hosts',
  'inputrc',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'locale.conf',
  'localtime',
  'login.defs',
  'lsb-release',
  'magic',
  'magic.mime',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'pki/ca-trust/extracted',
  'pki/tls/certs',
  'pki/tls/cert.pem',
  'profile',
  'profile.d',
  'protocols',
  'resolv.conf',
  'rpc',
  'services',
  'shells',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'terminfo',
  'timezone',
].map((name) => `/etc/${name}`);

/** Each device by itself: the directory holds disks and other people's terminals. */
const WRITABLE_DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/tty'];
const READABLE_DEVICES = ['/dev/random', '/dev/urandom'];
/** Own processes only (a /proc of the run's own), and how many processors there are. */
const KERNEL = ['/proc', '/sys/devices/system/cpu'];

const grant =
  (access: PathAccess) =>
  (path: string): PathGrant => ({ path, access, scope: 'absolute', provenance: 'environment', required: false });

/** The grants of the machine, each optional: what a distribution does not have is left out. */
export const systemGrants: readonly PathGrant[] = [
  ...PROGRAMS.map(grant('rox')),
  ...SETTINGS.map(grant('ro')),
  ...WRITABLE_DEVICES.map(grant('rw')),
  ...READABLE_DEVICES.map(grant('ro')),
  ...KERNEL.map(grant('ro')),
];
