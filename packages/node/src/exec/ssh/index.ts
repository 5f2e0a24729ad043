// Backend `ssh`: environments on another machine, reached by the user's own OpenSSH client.
import { join } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { z } from 'zod';
import type { Spawner } from '../../kernel/spawner.ts';
import type { BackendFactory } from '../backend.ts';
import { parseBackendOptions } from '../options.ts';
import { createRemoteBackend } from '../remote/index.ts';
import type { RemoteBackendParts } from '../remote/index.ts';
import type { PlaceProvider } from '../remote/place.ts';
import { createHost } from './host.ts';
import type { Host } from './host.ts';
import { SESSIONS_PER_CONNECTION } from './limits.ts';
import { findClient } from './program.ts';
import { createSshProvider } from './provider.ts';

const absolutePath = z.string().regex(/^\//, 'an absolute path');

const optionsSchema = z.strictObject({
  host: z
    .string()
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.:@%-]{0,254}$/, 'a host or alias of your OpenSSH configuration')
    .describe('The host: an alias of your OpenSSH configuration'),
  config: absolutePath.nullable().default(null).describe('The OpenSSH configuration to use; your own when it is not said'),
  identity: absolutePath.nullable().default(null).describe('A key file to use beside those the configuration names'),
  sshPath: absolutePath.nullable().default(null).describe('Where ssh is; looked for when it is not said'),
  connectSeconds: z.int().min(1).max(600).default(20).describe('How long connecting may take'),
  aliveSeconds: z.int().min(1).max(600).default(15).describe('A silent connection is asked for a sign of life this often'),
  aliveCount: z.int().min(1).max(60).default(3).describe('After so many unanswered ones it is lost'),
  broker: z
    .enum(['auto', 'forward', 'relay'])
    .default('auto')
    .describe('How programs reach the node: forwarded by the connection, by a relay, or by the first the server allows'),
  sessionsPerConnection: z
    .int()
    .min(1)
    .max(64)
    .default(SESSIONS_PER_CONNECTION)
    .describe("Sessions on one connection: one below the server's MaxSessions at most"),
});

/** What the node gives this backend. */
export type SshBackendParts = RemoteBackendParts & { readonly spawner: Spawner };

const noHost = (): OrreryError =>
  new OrreryError('config_invalid', 'No host is named for the backend ssh.', {
    rule: 'It runs on one host of your OpenSSH configuration.',
    fix: 'Name it in config.yaml: execution: { options: { ssh: { host: NAME } } }',
  });

const namesHost = (options: unknown): boolean => typeof options === 'object' && options !== null && 'host' in options;

/** The places of these options. Throws for a wrong option. */
export const sshPlaces = (options: unknown, parts: SshBackendParts): PlaceProvider => {
  parseBackendOptions('ssh', optionsSchema.partial({ host: true }), options);
  if (!namesHost(options)) throw noHost();
  const parsed = parseBackendOptions('ssh', optionsSchema, options);
  const { host, sshPath, sessionsPerConnection, broker, ...rest } = parsed;
  const hosts = new Map<string, Host>();
  const hostNamed = (name: string): Host => {
    const known = hosts.get(name);
    if (known !== undefined) return known;
    const made = createHost(
      { ...rest, host: name },
      {
        spawner: parts.spawner,
        program: () => findClient({ named: sshPath, path: parts.variables['PATH'] ?? '' }),
        socketDirectory: join(parts.stateDir, 'ssh-sockets'),
        variables: parts.variables,
        sessionsEach: sessionsPerConnection,
      },
    );
    hosts.set(name, made);
    return made;
  };
  const { installation, keeperProgram } = parts;
  return createSshProvider({ host: hostNamed(host), hostNamed, installation, keeperProgram, broker });
};

/** The factory of `ssh`. Its options are the keys of `optionsSchema`. */
export const sshFactory = (parts: SshBackendParts): BackendFactory => ({
  name: 'ssh',
  aliases: [],
  summary: 'A machine you log in to with OpenSSH: the same walls, there. Needs Linux there, and nothing installed.',
  make: (options) => createRemoteBackend(sshPlaces(options, parts), parts),
});
