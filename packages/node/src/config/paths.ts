import { chmod, mkdir, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';

/** Where the node keeps things. Every path is absolute. */
export type NodePaths = {
  /** The data directory. */
  readonly data: string;
  /** The configuration directory. */
  readonly config: string;
  readonly configFile: string;
  /** `node.json`: where a running node is; clients read it. */
  readonly descriptor: string;
  readonly database: string;
  readonly ownerToken: string;
  readonly secrets: string;
  /** Key of the secrets, in the configuration directory: a copy of the data alone opens none. */
  readonly secretKey: string;
  readonly lock: string;
  readonly log: string;
  readonly installation: string;
};

type Given = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  readonly data?: string | null;
  readonly config?: string | null;
};

/**
 * The paths from options, then `ORRERY_DATA` and `ORRERY_CONFIG` (a directory, or a file by its ending), then the XDG
 * directories. The command line finds the node by the same rule.
 */
export const resolvePaths = ({ env, home, cwd, data, config }: Given): NodePaths => {
  const xdg = (name: string, fallback: string): string => {
    const set = env[name];
    // The XDG rule: a relative path there is not one.
    return join(set !== undefined && isAbsolute(set) ? set : join(home, fallback), 'orrery');
  };
  const configFile = configFileOf(config ?? env['ORRERY_CONFIG'] ?? null, { cwd, fallback: xdg('XDG_CONFIG_HOME', '.config') });
  return pathsIn({ data: resolve(cwd, data ?? env['ORRERY_DATA'] ?? xdg('XDG_DATA_HOME', '.local/share')), configFile });
};

const configFileOf = (named: string | null, { cwd, fallback }: { cwd: string; fallback: string }): string => {
  if (named === null) return join(fallback, 'config.yaml');
  return /\.(ya?ml|json)$/.test(named) ? resolve(cwd, named) : resolve(cwd, named, 'config.yaml');
};

/** The paths below a data directory and beside a configuration file. */
export const pathsIn = ({ data, configFile }: { data: string; configFile: string }): NodePaths => ({
  data,
  config: dirname(configFile),
  configFile,
  descriptor: join(data, 'node.json'),
  database: join(data, 'orrery.db'),
  ownerToken: join(data, 'owner.token'),
  secrets: join(data, 'secrets.json'),
  secretKey: join(dirname(configFile), 'secret.key'),
  lock: join(data, 'node.lock'),
  log: join(data, 'logs', 'node.log'),
  installation: join(data, 'installation'),
});

/** Makes the directories of the node for its user alone (0700). A data directory of somebody else is refused with `path_refused`. */
export const makeDirectories = async (paths: NodePaths, uid: number): Promise<void> => {
  for (const directory of [paths.data, dirname(paths.log), paths.config])
    await mkdir(directory, { recursive: true, mode: 0o700 });
  const { uid: owner } = await stat(paths.data);
  if (owner !== uid) {
    throw new OrreryError('path_refused', `The data directory ${paths.data} belongs to another user.`, {
      rule: 'A node keeps its data in a directory of its own user.',
      fix: 'Choose another: orrery up --data FOLDER',
    });
  }
  await chmod(paths.data, 0o700);
};
