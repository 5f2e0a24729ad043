// The two files a keeper starts from: `spec` and `env` (native/keeper/WIRE.md).
import { OrreryError } from '@orrery/protocol/errors';
import type { Confinement, KeeperFront, KeeperLimits, KeeperSpec } from './types.ts';

const refuse = (what: string): OrreryError =>
  new OrreryError('invalid_input', `A program cannot be described to its keeper: ${what}.`, {
    rule: 'Names and values hold no NUL byte; paths are absolute.',
  });

const encodeValue = (value: string): string => {
  if (value.includes('\0')) throw refuse('a value holds a NUL byte');
  let encoded = '';
  for (const byte of Buffer.from(value, 'utf8')) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += plain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`;
  }
  return encoded;
};

const absolute = (path: string): string => {
  if (!path.startsWith('/')) throw refuse(`${path} is not an absolute path`);
  return path;
};

type Line = readonly [key: string, value: string];

const confinementLines = (confinement: Confinement | null): Line[] => {
  if (confinement === null) return [['confine', '0']];
  return [
    ['confine', '1'],
    ...confinement.files.map(({ path, access }): Line => ['file', `${access} ${absolute(path)}`]),
    ...confinement.readOnly.map((path): Line => ['readonly', absolute(path)]),
    ['network', confinement.network],
    ['processes', confinement.processes ? '1' : '0'],
    ['unix-sockets', confinement.unixSockets ? '1' : '0'],
    ...(confinement.wrapper ?? []).map((word): Line => ['wrapper', word]),
  ];
};

const limitLines = (limits: KeeperLimits): Line[] => {
  const all: (readonly [string, number | undefined])[] = [
    ['wall-ms', limits.wallMs],
    ['cpu-seconds', limits.cpuSeconds],
    ['memory-bytes', limits.memoryBytes],
    ['max-processes', limits.processes],
    ['file-bytes', limits.fileBytes],
    ['output-bytes', limits.outputBytes],
    ['spool-window-bytes', limits.spoolWindowBytes],
  ];
  return all.flatMap(([key, value]): Line[] => {
    if (value === undefined) return [];
    if (!Number.isSafeInteger(value) || value < 1) throw refuse(`the limit ${key} is ${value}, not a whole number from 1`);
    return [[key, String(value)]];
  });
};

const frontLines = (front: KeeperFront | null): Line[] =>
  front === null
    ? []
    : [
        ['front-port', String(front.port)],
        ['front-target', absolute(front.target)],
        ['front-hold-ms', String(front.holdMs)],
        ['front-hold-max', String(front.holdMax)],
      ];

/** The text of `DIR/spec`. Holds no value of the environment. Rejects relative paths, NUL bytes and limits below 1. */
export const renderSpecFile = (spec: KeeperSpec): string => {
  const terminal: Line[] =
    spec.stdio === 'pty' && spec.terminal !== undefined
      ? [
          ['columns', String(spec.terminal.columns)],
          ['rows', String(spec.terminal.rows)],
        ]
      : [];
  const lines: Line[] = [
    ['version', '1'],
    ['command', spec.command],
    ...spec.args.map((arg): Line => ['arg', arg]),
    ['cwd', absolute(spec.cwd)],
    ['stdio', spec.stdio],
    ...terminal,
    ...confinementLines(spec.confinement),
    ...limitLines(spec.limits),
    ...frontLines(spec.front),
    ...spec.required.map((name): Line => ['required', name]),
    ['go-timeout-ms', String(spec.goTimeoutMs)],
    ['release-timeout-ms', String(spec.releaseTimeoutMs)],
  ];
  return lines.map(([key, value]) => `${key} ${encodeValue(value)}\n`).join('');
};

/** The bytes of `DIR/env`: `NAME=value` entries, each ended by a NUL byte, sorted by name. */
export const renderEnvFile = (env: Readonly<Record<string, string>>): Uint8Array => {
  const names = Object.keys(env).toSorted();
  for (const name of names) {
    if (name === '' || name.includes('=') || name.includes('\0'))
      throw refuse('an environment variable has a name that cannot be one');
    if (env[name]?.includes('\0')) throw refuse(`the environment variable ${name} holds a NUL byte`);
  }
  return Buffer.from(names.map((name) => `${name}=${env[name]}\0`).join(''), 'utf8');
};
