import { describe, expect, it } from 'vitest';
import { sampleRender, sampleRun } from '../../test/exec/sample-specs.ts';
import { describeKeeperSpec } from './describe-run.ts';
import { renderLocal } from './local/render.ts';
import { renderSandbox } from './sandbox/render.ts';

const run = sampleRun({
  args: ['-c', "echo it's s3cret-value"],
  env: { API_TOKEN: 's3cret-value', HTTP_PROXY: 'http://egress:tok@127.0.0.1:7777', ODD: 'odd value' },
});
const said = { backend: 'local', notice: 'confines nothing', label: 'agent', secretNames: ['ODD'] };

describe('what would run, for people', () => {
  it('says every part of the spec and no secret', () => {
    expect(describeKeeperSpec(renderLocal(sampleRender({ run })), said)).toBe(
      [
        'backend    local: confines nothing',
        'label      agent',
        "command    sh -c 'echo it'\\''s •••'",
        'cwd        /w/checkout',
        'stdio      piped',
        'files      everything this user may',
        'network    everything this machine may',
        'processes  visible and reachable',
        'limits     wallMs=10000 outputBytes=500000 spoolWindowBytes=67108864',
        'broker     127.0.0.1:7777 → /d/broker.sock',
        'required   nothing',
        "env        API_TOKEN='•••'",
        'env        HOME=/w/home',
        "env        HTTP_PROXY='http://•••@127.0.0.1:7777'",
        'env        LANG=C.UTF-8',
        'env        LOGNAME=someone',
        "env        ODD='•••'",
        'env        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'env        SHELL=/bin/sh',
        'env        TEMP=/w/tmp',
        'env        TMP=/w/tmp',
        'env        TMPDIR=/w/tmp',
        'env        USER=someone',
      ].join('\n'),
    );
  });

  it('a confined run names each rule', () => {
    const text = describeKeeperSpec(renderSandbox(sampleRender(), { toolPaths: [], unixSockets: false }), {
      ...said,
      backend: 'sandbox',
      notice: null,
    });
    expect(
      text.split('\n').filter((line) => /^(backend|network|processes|sockets)|\/w|\/usr/.test(line) && !line.startsWith('env')),
    ).toEqual([
      'backend    sandbox',
      'cwd        /w/checkout',
      'file       rox /usr',
      'file       rwx /w/checkout',
      'file       rwx /w/home',
      'file       rwx /w/tmp',
      "network    its own loopback; nothing else but the broker's port",
      'processes  its own',
      'sockets    no Unix sockets',
    ]);
  });
});
