// Backend `docker`: a container for each environment, by Docker or Podman.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { BackendFactory } from '../backend.ts';
import { parseBackendOptions } from '../options.ts';
import { createRemoteBackend } from '../remote/index.ts';
import type { RemoteBackendParts } from '../remote/index.ts';
import { findSocket } from './address.ts';
import { connectEngine } from './engine.ts';
import type { Engine } from './engine.ts';
import { dockerOptions } from './options.ts';
import type { DockerOptions } from './options.ts';
import { createDockerProvider } from './provider.ts';

/** Connects once, and again after a failure: an engine may come later. */
const engineOf = ({ socket }: DockerOptions, variables: RemoteBackendParts['variables']): (() => Promise<Engine>) => {
  let connected: { readonly path: string; readonly engine: Promise<Engine> } | null = null;
  return async () => {
    const path = findSocket({ socket, variables, uid: process.getuid?.() ?? null, exists: existsSync });
    if (connected?.path !== path) connected = { path, engine: connectEngine(path) };
    return connected.engine;
  };
};

/** The factory of `docker`. Its options: `dockerOptions`. */
export const dockerFactory = (parts: RemoteBackendParts): BackendFactory => ({
  name: 'docker',
  aliases: ['podman'],
  summary: 'A container for each environment, by Docker or Podman: own files, no network but the broker, limits.',
  make: (given) => {
    const options = parseBackendOptions('docker', dockerOptions, given);
    const programs = { programs: parts.mountable?.[0] ?? null, node: dirname(process.execPath) };
    const engine = engineOf(options, parts.variables);
    const { installation, keeperProgram } = parts;
    return createRemoteBackend(createDockerProvider({ options, installation, keeperProgram, programs, engine }), parts);
  },
});
