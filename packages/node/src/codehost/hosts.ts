import { OrreryError } from '@orrery/protocol/errors';
import { secretOf } from '../config/secrets.ts';
import type { CodeHost } from './codehost.ts';
import { createGithub } from './github/index.ts';
import type { Packing } from './push.ts';
import { parseRemote } from './remote.ts';

/** A code host as the operator has it in config.yaml. */
export type DeclaredHost = {
  readonly kind: 'github';
  readonly url: string;
  readonly match?: readonly string[] | undefined;
  /** `secret:<name>`; absent: the secret with the name of the code host. */
  readonly secret?: string | undefined;
};

/** The repository of a project on a code host of the operator's. */
export type HostedRepository = { readonly host: CodeHost; readonly repository: string };

/** The operator's code hosts, as the configuration has them at each question. */
export type CodeHosts = {
  /** The repository that the first of these addresses names on one of them. Throws `unsupported` with what is missing. */
  ofRemotes(addresses: readonly string[], project: string): HostedRepository;
  /** One by its name; throws `unsupported` when it is configured no longer. */
  named(name: string): CodeHost;
};

export type CodeHostParts = {
  readonly declared: () => Readonly<Record<string, DeclaredHost>>;
  readonly configFile: string;
  readonly readSecret: (name: string) => Promise<string | null>;
  readonly packing: Packing;
  readonly nowMs: () => number;
  readonly signal?: AbortSignal;
};

/** Makes the door to code hosts. */
export const createCodeHosts = (parts: CodeHostParts): CodeHosts => {
  const { packing, nowMs, readSecret, signal } = parts;
  const list = (): CodeHost[] =>
    Object.entries(parts.declared()).map(([name, { url, match, secret }]) =>
      createGithub({
        ...{ name, url, match: match ?? null, secret: secretOf(secret, name) },
        ...{ readSecret, packing, nowMs, ...(signal === undefined ? {} : { signal }) },
      }),
    );
  return {
    ofRemotes: (addresses, project) => {
      const hosts = list();
      for (const address of addresses)
        for (const host of hosts) {
          const repository = host.repositoryOf(address);
          if (repository !== null) return { host, repository };
        }
      throw noHost({ addresses, project, hosts, file: parts.configFile });
    },
    named: (name) => {
      const found = list().find((host) => host.name === name);
      if (found !== undefined) return found;
      throw new OrreryError('unsupported', `The code host ${name} is configured no longer.`, {
        rule: 'A pull request is asked for at the host that has it.',
        fix: `Put it back into codehosts of ${parts.configFile}`,
      });
    },
  };
};

const noHost = ({
  addresses,
  project,
  hosts,
  file,
}: {
  readonly addresses: readonly string[];
  readonly project: string;
  readonly hosts: readonly CodeHost[];
  readonly file: string;
}): OrreryError => {
  const found = addresses.map(parseRemote).find((remote) => remote !== null);
  const rule = 'A pull request is opened at a code host that the operator configured, in the repository that a remote names.';
  if (found == null)
    return new OrreryError('unsupported', `${project} has no remote that is a repository of a code host.`, {
      rule,
      fix: 'git remote add origin https://github.com/OWNER/NAME.git',
      details: { hosts: hosts.map(({ name }) => name) },
    });
  const example =
    found.host === 'github.com'
      ? 'codehosts: {github: {}}, then: orrery secret set github'
      : `codehosts: {work: {url: https://${found.host}/api/v3}}, then: orrery secret set work`;
  return new OrreryError('unsupported', `No code host is configured for ${found.host}, where ${project} comes from.`, {
    rule,
    fix: `Write into ${file}: ${example}`,
    details: { hosts: hosts.map(({ name }) => name) },
  });
};
