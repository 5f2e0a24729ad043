// What the client said when there was no connection, and what that means for people. Pure.
import { OrreryError } from '@orrery/protocol/errors';
import { personLine } from './client-line.ts';
import type { Destination } from './client-line.ts';

/** Why there is no connection. The first three are for a person to settle; the others may pass. */
export type Failure =
  | { readonly kind: 'unknown_key'; readonly of: string }
  | { readonly kind: 'changed_key'; readonly of: string; readonly fingerprint: string | null; readonly entry: string | null }
  | { readonly kind: 'not_let_in'; readonly said: string }
  | { readonly kind: 'misconfigured'; readonly said: string }
  | { readonly kind: 'no_shell'; readonly said: string }
  | { readonly kind: 'unreachable'; readonly said: string };

const lastLine = (said: string): string => said.trim().split('\n').at(-1)?.trim().slice(0, 500) ?? '';

/** Reads the client's last words. Words it does not know mean `unreachable`: nobody can tell, so nothing is concluded. */
export const readFailure = (said: string): Failure => {
  const unknown = /No \S+ host key is known for (\S+) and you have requested strict checking/.exec(said);
  if (unknown !== null) return { kind: 'unknown_key', of: unknown[1]! };
  const changed = /Host key for (\S+) has changed and you have requested strict checking/.exec(said);
  const revoked = /REVOKED HOST KEY DETECTED/.test(said);
  if (changed !== null || revoked) {
    const fingerprint = /(SHA256:[A-Za-z0-9+/]+)/.exec(said)?.[1] ?? null;
    const entry = /^Offending \S+ key in (\S+)$/m.exec(said.replaceAll('\r', ''))?.[1] ?? null;
    return { kind: 'changed_key', of: changed?.[1] ?? 'this host', fingerprint, entry };
  }
  if (/Permission denied|Too many authentication failures|No more authentication methods/.test(said))
    return { kind: 'not_let_in', said: lastLine(said) };
  if (
    /Bad configuration option|terminating, \d+ bad configuration|Can't open user config file|Bad owner or permissions/.test(said)
  )
    return { kind: 'misconfigured', said: lastLine(said) };
  return { kind: 'unreachable', said: lastLine(said) };
};

/** The fingerprint of the key a host shows, from the client's own account of a connection; null when it did not come so far. */
export const fingerprintIn = (said: string): { readonly type: string; readonly fingerprint: string } | null => {
  const shown = /Server host key: (\S+) (SHA256:\S+)/.exec(said);
  return shown === null ? null : { type: shown[1]!, fingerprint: shown[2]! };
};

const unknownKey = (of: string, destination: Destination, shown: ReturnType<typeof fingerprintIn>): OrreryError =>
  new OrreryError(
    'backend_unavailable',
    shown === null
      ? `The key of the host ${of} is not known.`
      : `The key of the host ${of} is not known. It shows ${shown.type} ${shown.fingerprint}.`,
    {
      rule: 'Nothing is sent to a host whose key nobody has accepted.',
      fix: `Compare the fingerprint with what the host's own console says (ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub), then accept it: ${personLine(destination, ['-o', 'StrictHostKeyChecking=ask'])} true`,
      details: { host: of, ...(shown === null ? {} : { fingerprint: shown.fingerprint }) },
    },
  );

const changedKey = (failure: Extract<Failure, { kind: 'changed_key' }>): OrreryError => {
  const { of, fingerprint, entry } = failure;
  const file = entry?.replace(/:\d+$/, '');
  return new OrreryError(
    'backend_unavailable',
    `The key of the host ${of} has changed${fingerprint === null ? '' : `; it shows ${fingerprint}`}. Nothing was sent.`,
    {
      rule: 'A host with another key than the accepted one may be another machine, or someone in between.',
      fix: `Ask who runs the host. Only if it was set up anew, forget the old key: ssh-keygen -R '${of}'${file === undefined ? '' : ` -f ${file}`}`,
      details: { host: of, ...(fingerprint === null ? {} : { fingerprint }), ...(entry === null ? {} : { acceptedIn: entry }) },
    },
  );
};

/** The error of a failure. `shown` is the key that an unknown host showed. */
export const failureError = (
  failure: Failure,
  destination: Destination,
  shown: ReturnType<typeof fingerprintIn> = null,
): OrreryError => {
  const { host } = destination;
  const byHand = personLine(destination, ['-o', 'BatchMode=yes']);
  if (failure.kind === 'unknown_key') return unknownKey(failure.of, destination, shown);
  if (failure.kind === 'changed_key') return changedKey(failure);
  if (failure.kind === 'not_let_in')
    return new OrreryError('backend_unavailable', `The host ${host} did not let this user in: ${failure.said}`, {
      rule: 'The node logs in as your own ssh does, without a password or a passphrase to type.',
      fix: `Load the key into an agent that the node sees (SSH_AUTH_SOCK), or name one: execution.options.ssh.identity. This must work without a question: ${byHand} true`,
    });
  if (failure.kind === 'misconfigured')
    return new OrreryError('backend_unavailable', `The OpenSSH configuration cannot be used: ${failure.said}`, {
      rule: 'The host is looked up in your OpenSSH configuration.',
      fix: `See what it says: ${byHand.replace(/^ssh/, 'ssh -G')}`,
    });
  if (failure.kind === 'no_shell')
    return new OrreryError('backend_unavailable', `The login shell on ${host} runs no commands: ${failure.said}`, {
      rule: 'Commands are run by the login shell of the user, which hands them to /bin/sh.',
      fix: `Log in as a user that may run commands. This must print yes: ${byHand} "exec /bin/sh -c 'echo yes'"`,
    });
  return new OrreryError('backend_unreachable', `The host ${host} cannot be reached: ${failure.said || 'the connection ended'}`, {
    rule: 'A lost connection is not the end of what runs there.',
    fix: `Once it can be reached again, the work goes on from where it is. Try: ${byHand} true`,
  });
};
