import { describe, expect, it } from 'vitest';
import { failureError, fingerprintIn, readFailure } from './failure.ts';

const destination = { host: 'box', config: null, identity: null, connectSeconds: 20, aliveSeconds: 15, aliveCount: 3 };

const CHANGED = `@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\r
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\r
The fingerprint for the ED25519 key sent by the remote host is\r
SHA256:pVbmyhgA8mGZ5NfIYnN6g1XIcS1CZeA0kpzQV/9VtHU.\r
Please contact your system administrator.\r
Offending ED25519 key in /home/u/.ssh/known_hosts:7\r
Host key for [10.0.0.1]:2222 has changed and you have requested strict checking.\r
Host key verification failed.\r
`;

describe('what the client says', () => {
  it.each([
    [
      'No ED25519 host key is known for [10.0.0.1]:2222 and you have requested strict checking.\r\nHost key verification failed.',
      { kind: 'unknown_key', of: '[10.0.0.1]:2222' },
    ],
    [
      CHANGED,
      {
        kind: 'changed_key',
        of: '[10.0.0.1]:2222',
        fingerprint: 'SHA256:pVbmyhgA8mGZ5NfIYnN6g1XIcS1CZeA0kpzQV/9VtHU',
        entry: '/home/u/.ssh/known_hosts:7',
      },
    ],
    [
      '@  WARNING: REVOKED HOST KEY DETECTED!  @\nThe ED25519 host key for box is marked as revoked.',
      { kind: 'changed_key', of: 'this host', fingerprint: null, entry: null },
    ],
    [
      'u@10.0.0.1: Permission denied (publickey,password).',
      { kind: 'not_let_in', said: 'u@10.0.0.1: Permission denied (publickey,password).' },
    ],
    [
      '/c: line 3: Bad configuration option: hots\n/c: terminating, 1 bad configuration options',
      { kind: 'misconfigured', said: '/c: terminating, 1 bad configuration options' },
    ],
    [
      'ssh: Could not resolve hostname box: Name or service not known',
      { kind: 'unreachable', said: 'ssh: Could not resolve hostname box: Name or service not known' },
    ],
    [
      'ssh: connect to host 10.0.0.1 port 22: Connection refused',
      { kind: 'unreachable', said: 'ssh: connect to host 10.0.0.1 port 22: Connection refused' },
    ],
    ['something that no version said before', { kind: 'unreachable', said: 'something that no version said before' }],
    ['', { kind: 'unreachable', said: '' }],
  ])('%j', (said, failure) => {
    expect(readFailure(said)).toEqual(failure);
  });

  it('a key nobody accepted is shown, with the command that accepts it', () => {
    const shown = fingerprintIn('debug1: Server host key: ssh-ed25519 SHA256:abc\ndebug1: more');
    const error = failureError({ kind: 'unknown_key', of: '10.0.0.1' }, destination, shown);
    expect(error).toMatchObject({
      code: 'backend_unavailable',
      message: 'The key of the host 10.0.0.1 is not known. It shows ssh-ed25519 SHA256:abc.',
    });
    expect(error.fix).toMatch(/ssh -o StrictHostKeyChecking=ask box true$/);
  });

  it('a changed key is refused, with the file that has the old one', () => {
    const error = failureError(readFailure(CHANGED), destination);
    expect(error.message).toContain('has changed; it shows SHA256:pVbmyhgA8mGZ5NfIYnN6g1XIcS1CZeA0kpzQV/9VtHU');
    expect(error.fix).toMatch(/ssh-keygen -R '\[10\.0\.0\.1\]:2222' -f \/home\/u\/\.ssh\/known_hosts$/);
  });

  it('what may pass is told apart from what a person has to settle', () => {
    const codes = (['unreachable', 'not_let_in', 'misconfigured', 'no_shell'] as const).map(
      (kind) => failureError({ kind, said: 'x' }, destination).code,
    );
    expect(codes).toEqual(['backend_unreachable', 'backend_unavailable', 'backend_unavailable', 'backend_unavailable']);
  });
});
