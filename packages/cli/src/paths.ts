import { dirname, join, resolve } from 'node:path';
import { homedir } from 'node:os';
import { OrreryError } from '@orrery/protocol/errors';
import type { World } from './world.ts';

/** Where things are kept. */
export type Paths = {
  readonly data: string;
  /** Folder of the user's configuration. */
  readonly config: string;
  readonly configFile: string;
  readonly descriptor: string;
  readonly receipts: string;
  /** Where a detached node's standard error goes. */
  readonly upLog: string;
};

/** Reads the places from options, then `ORRERY_DATA`, `ORRERY_CONFIG`, then the XDG folders. */
export const pathsOf = (
  world: Pick<World, 'env' | 'cwd'>,
  given: { readonly data: string | null; readonly config: string | null },
): Paths => {
  const { env, cwd } = world;
  const home = env['HOME'] ?? homeOfUser();
  const xdg = (name: string, fallback: string): string => join(env[name] ?? join(home, fallback), 'orrery');
  const data = resolve(cwd, given.data ?? env['ORRERY_DATA'] ?? xdg('XDG_DATA_HOME', '.local/share'));
  const named = given.config ?? env['ORRERY_CONFIG'] ?? null;
  const isFile = named !== null && /\.(ya?ml|json)$/.test(named);
  const configFile =
    named === null
      ? join(xdg('XDG_CONFIG_HOME', '.config'), 'config.yaml')
      : isFile
        ? resolve(cwd, named)
        : resolve(cwd, named, 'config.yaml');
  const config = dirname(configFile);
  return {
    data,
    config,
    configFile,
    descriptor: join(data, 'node.json'),
    receipts: join(config, 'receipts'),
    upLog: join(xdg('XDG_STATE_HOME', '.local/state'), 'up.log'),
  };
};

const homeOfUser = (): string => {
  try {
    return homedir();
  } catch (thrown) {
    throw new OrreryError('config_invalid', 'This user has no home folder.', {
      rule: 'Configuration and data are kept below it: HOME is not set, and the system names none.',
      fix: 'export HOME=/a/folder/of/yours',
      cause: thrown,
    });
  }
};
