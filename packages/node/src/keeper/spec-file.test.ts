import { describe, expect, it } from 'vitest';
import { renderEnvFile, renderSpecFile } from './spec-file.ts';
import type { KeeperSpec } from './types.ts';

const spec: KeeperSpec = {
  command: 'sh',
  args: ['-c', 'echo "50% ü"\n', ''],
  cwd: '/tmp/a b',
  env: { KEY: 'never in the spec' },
  stdio: 'pty',
  terminal: { columns: 100, rows: 30 },
  confinement: {
    files: [{ path: '/usr', access: 'rox' }],
    readOnly: ['/w/.git/hooks'],
    network: 'none',
    processes: true,
    unixSockets: false,
  },
  limits: { wallMs: 1000, memoryBytes: 5, outputBytes: 10, spoolWindowBytes: 4 },
  front: { port: 7777, target: '/data/broker.sock', holdMs: 0, holdMax: 8 },
  required: ['files', 'network'],
  goTimeoutMs: 30_000,
  releaseTimeoutMs: 60_000,
};

describe('the files a keeper starts from', () => {
  it('the spec is one key a line, in order, with every byte that is not plain written as %XX', () => {
    expect(renderSpecFile(spec)).toBe(
      [
        'version 1',
        'command sh',
        'arg -c',
        'arg echo "50%25 %c3%bc"%0a',
        'arg ',
        'cwd /tmp/a b',
        'stdio pty',
        'columns 100',
        'rows 30',
        'confine 1',
        'file rox /usr',
        'readonly /w/.git/hooks',
        'network none',
        'processes 1',
        'unix-sockets 0',
        'wall-ms 1000',
        'memory-bytes 5',
        'output-bytes 10',
        'spool-window-bytes 4',
        'front-port 7777',
        'front-target /data/broker.sock',
        'front-hold-ms 0',
        'front-hold-max 8',
        'required files',
        'required network',
        'go-timeout-ms 30000',
        'release-timeout-ms 60000',
        '',
      ].join('\n'),
    );
  });

  it('a program that builds the walls follows them word by word', () => {
    const confinement = { ...spec.confinement!, wrapper: ['/usr/bin/bwrap', '--bind', '/w/a b', '/w/ü', '--', 'inside'] };
    const lines = renderSpecFile({ ...spec, confinement }).split('\n');
    expect(lines.slice(lines.indexOf('unix-sockets 0') + 1).filter((line) => line.startsWith('wrapper '))).toEqual([
      'wrapper /usr/bin/bwrap',
      'wrapper --bind',
      'wrapper /w/a b',
      'wrapper /w/%c3%bc',
      'wrapper --',
      'wrapper inside',
    ]);
  });

  it('without confinement none of its keys is written, and a terminal size only with a terminal', () => {
    const text = renderSpecFile({ ...spec, confinement: null, stdio: 'piped', front: null });
    expect(text.match(/^(confine|file|readonly|network|processes|unix-sockets|columns|rows|front-port) .*/gm)).toEqual([
      'confine 0',
    ]);
  });

  it('what cannot be said is refused: NUL bytes, relative paths, limits below one', () => {
    expect(() => renderSpecFile({ ...spec, args: ['a\0b'] })).toThrow('NUL');
    expect(() => renderSpecFile({ ...spec, cwd: 'relative' })).toThrow('absolute');
    expect(() => renderSpecFile({ ...spec, limits: { ...spec.limits, processes: 0 } })).toThrow('max-processes');
  });

  it('the environment is NAME=value with a NUL after each, sorted; names that are none are refused', () => {
    expect(Buffer.from(renderEnvFile({ B: 'x=y\n', A: '' })).toString()).toBe('A=\0B=x=y\n\0');
    expect(() => renderEnvFile({ 'A=B': '' })).toThrow('name');
    expect(() => renderEnvFile({ A: 'secret\0' })).toThrow('variable A holds');
  });
});
