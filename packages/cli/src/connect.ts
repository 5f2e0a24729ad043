import { readFile } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { createClient, openUpgrade, type Client } from '@orrery/client';
import type { NodeFacts, OperationName } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { readDescriptor, type Descriptor } from './descriptor.ts';
import type { Paths } from './paths.ts';
import { shellWord } from './wording.ts';
import type { World } from './world.ts';

/** A node that answered and is the one that was meant. */
export type Connection = {
  readonly client: Client;
  /** Where the node was reached. */
  readonly url: string;
  readonly node: NodeFacts;
  /** Opens a connection that stops being HTTP; `path` is below `/api/v1`. */
  upgrade(path: string, protocol: string): Promise<Duplex>;
  /** A WebSocket that is not open yet; `path` is below `/api/v1`. */
  webSocket(path: string, protocol: string): Promise<WebSocket>;
  /** Operations that this node has. */
  readonly operations: ReadonlySet<string>;
  /** The node's own description, when it runs on this data directory. */
  readonly local: Descriptor | null;
};

/** `stop` ends every call to the node. */
export type Selection = { readonly url: string | null; readonly tokenFile: string | null; readonly stop?: AbortSignal };

/** Where to connect, before anything was asked. */
type Target = { readonly url: string; readonly tokenFile: string | null; readonly local: Descriptor | null };

const notRunning = (paths: Paths): OrreryError =>
  new OrreryError('node_not_running', `No node is running on ${paths.data}.`, {
    rule: 'Commands talk to a running node; only run and demo start one by themselves.',
    fix: 'orrery up --detach',
  });

/** Finds the node: `--connection`, then `$ORRERY_URL`, then the node of the data directory. Null: none is running there. */
export const findNode = async (world: World, paths: Paths, selection: Selection): Promise<Target | null> => {
  const url = selection.url ?? world.env['ORRERY_URL'] ?? null;
  const tokenFile = selection.tokenFile ?? world.env['ORRERY_TOKEN_FILE'] ?? null;
  if (url !== null && tokenFile !== null) return { url: checkUrl(url), tokenFile, local: null };
  const local = await readDescriptor(paths.descriptor);
  // The address of the node of this data directory may be given by hand: its token is found as usual.
  if (url !== null && checkUrl(url) !== local?.url) return { url: checkUrl(url), tokenFile, local: null };
  if (local === null || !world.processes.isAlive(local.pid)) return null;
  return { url: checkUrl(local.url), tokenFile: tokenFile ?? local.tokenFile, local };
};

/** A token goes over plain HTTP to this machine only. */
const checkUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '') {
    throw new OrreryError('invalid_input', 'The URL of the node cannot be used.', {
      rule: 'It is http:// or https://, without a name or password.',
      fix: 'orrery status --connection http://127.0.0.1:4747 --token-file FILE',
    });
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const loopback = host === 'localhost' || host === '::1' || host.startsWith('127.');
  if (url.protocol === 'http:' && !loopback) {
    throw new OrreryError('invalid_input', 'The node is on another machine and the URL is not https.', {
      rule: 'A token is sent in the clear to this machine only; use https, or a tunnel.',
      fix: 'ssh -N -L 4747:127.0.0.1:4747 HOST',
    });
  }
  return url.href.replace(/\/+$/, '');
};

const readToken = async (file: string | null): Promise<string | null> => {
  if (file === null) return null;
  try {
    const token = (await readFile(file, 'utf8')).trim();
    return token === '' ? null : token;
  } catch (thrown) {
    throw new OrreryError('unauthenticated', `The token file ${file} cannot be read.`, {
      rule: 'A token is read from a file, never from the command line.',
      fix: `ls -l ${shellWord(file)}`,
      cause: thrown,
    });
  }
};

/** Connects to the selected node and checks who it is. Throws `node_not_running` when there is none. */
export const connect = async (world: World, paths: Paths, selection: Selection): Promise<Connection> => {
  const target = await findNode(world, paths, selection);
  if (target === null) throw notRunning(paths);
  const client = createClient({ url: target.url, token: () => readToken(target.tokenFile), stop: selection.stop });
  try {
    const [node, capabilities] = await Promise.all([client.call('nodeShow'), client.call('capabilities')]);
    if (target.local !== null && target.local.installationId !== node.installationId) {
      throw new OrreryError('node_mismatch', `Another node answers at ${target.url}.`, {
        rule: `The data directory belongs to ${target.local.installationId}.`,
        fix: 'Start the node of this data directory: orrery up --detach',
      });
    }
    const upgrade = async (path: string, protocol: string): Promise<Duplex> =>
      openUpgrade({ origin: target.url, token: await readToken(target.tokenFile), path, protocol });
    const webSocket = async (path: string, protocol: string): Promise<WebSocket> => {
      // A node that was started anew may be at another address.
      const { url, tokenFile } = (await findNode(world, paths, selection)) ?? target;
      const token = await readToken(tokenFile);
      const headers = token === null ? {} : { authorization: `Bearer ${token}` };
      return new WebSocket(`${url.replace(/^http/, 'ws')}/api/v1${path}`, { protocols: [protocol], headers });
    };
    const { url, local } = target;
    return { client, url, node, upgrade, webSocket, operations: new Set(capabilities.operations), local };
  } catch (thrown) {
    client.close();
    // Its process id may live on in another process: nobody listens there, so that it does not run.
    if (target.local !== null && thrown instanceof OrreryError && thrown.code === 'node_unreachable') throw notRunning(paths);
    throw thrown;
  }
};

/** Refuses, before anything is sent, what this node does not have. */
export const requireOperations = (connection: Connection, needed: readonly OperationName[], command: string): void => {
  const missing = needed.filter((name) => !connection.operations.has(name));
  if (missing.length === 0) return;
  throw new OrreryError('unsupported', `This node (version ${connection.node.version}) cannot do: orrery ${command}.`, {
    rule: `It lacks ${missing.join(', ')}.`,
    fix: 'Upgrade the node, then start it again: orrery down && orrery up --detach',
    details: { missing },
  });
};
