import { readFile } from 'node:fs/promises';
import { unwatchFile, watchFile } from 'node:fs';
import type { ConfigExplained } from '@orrery/protocol';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { CONFIG_STILL_MS, CONFIG_WATCH_MS } from '../kernel/limits.ts';
import { namesBackend } from './backend-names.ts';
import { explainAll, explainKey, type ProjectFileText } from './explain.ts';
import { environmentLayer, flagLayer, leavesOf, mergeLayers, valueAt, type Layer } from './layers.ts';
import { nodeSchema, restartKeys, type NodeConfig } from './node-schema.ts';
import { parseYamlFile } from './yaml-file.ts';

/** What a change of the file came to. */
export type ConfigChange = {
  readonly config: NodeConfig;
  /** Keys whose value changed. */
  readonly changed: readonly string[];
  /** Those of them that hold from the next start on. */
  readonly needRestart: readonly string[];
};

/** The node's configuration: what holds now, and where each value comes from. */
export type Config = {
  /** Where the file is, or would be. */
  readonly file: string;
  /** What holds now; ask again for each use, it changes with the file. */
  current(): NodeConfig;
  /** Why the file as it stands is not in force; null when it is. The last good one holds meanwhile. */
  problem(): OrreryError | null;
  explain(key: string, project?: ProjectFileText | null): ConfigExplained;
  /** Every key, explained. */
  list(project?: ProjectFileText | null): ConfigExplained[];
  /** Reads the file again. Rejects with what is wrong with it; the last good configuration stays. */
  reload(): Promise<ConfigChange>;
  /** Reloads when the file changes, and says what came of it. Answers the way to stop. */
  watch(on: { readonly change: (change: ConfigChange) => void; readonly problem: (error: OrreryError) => void }): () => void;
};

export type ConfigParts = {
  /** The file; it need not exist. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values of the command line, by dotted key. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly watchMs?: number;
};

const leaves = leavesOf(nodeSchema);
const defaults: Layer = { values: nodeSchema.parse({}), originOf: () => 'default' };

/** Loads the configuration: command line > environment > file > default. Rejects with `unknown_key` or `config_invalid`. */
export const loadConfig = async (parts: ConfigParts): Promise<Config> => {
  const { file, watchMs = CONFIG_WATCH_MS } = parts;
  let layers = await readLayers(parts);
  let current = configOf(layers);
  let problem: OrreryError | null = null;

  const reload = async (): Promise<ConfigChange> => {
    try {
      const next = await readLayers(parts);
      const config = configOf(next);
      const changed = changedKeys(current, config);
      layers = next;
      current = config;
      problem = null;
      return { config, changed, needRestart: changed.filter((key) => restartKeys.includes(key)) };
    } catch (thrown) {
      problem = toOrreryError(thrown);
      throw problem;
    }
  };

  return {
    file,
    current: () => current,
    problem: () => problem,
    explain: (key, project) => explainKey(key, { layers, leaves, project: project ?? null }),
    list: (project) => explainAll({ layers, leaves, project: project ?? null }),
    reload,
    watch: (on) => {
      // Polling the name sees what editors do (rename over it), links into other folders, and a file that is not there yet.
      const read = (): void => {
        reload().then(
          (change) => change.changed.length > 0 && on.change(change),
          (thrown: unknown) => on.problem(toOrreryError(thrown)),
        );
      };
      // A file that is written in place is empty for a moment: it is read once it has been still for a while.
      let still: NodeJS.Timeout | undefined;
      const look = (): void => {
        clearTimeout(still);
        still = setTimeout(read, CONFIG_STILL_MS);
      };
      watchFile(file, { interval: watchMs, persistent: false }, look);
      return () => {
        clearTimeout(still);
        unwatchFile(file, look);
      };
    },
  };
};

const readLayers = async ({ file, env, flags = {} }: ConfigParts): Promise<readonly Layer[]> => {
  const text = await readFile(file, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === 'ENOENT') return '';
    throw new OrreryError('config_invalid', `The configuration ${file} cannot be read (${thrown.code ?? 'unknown reason'}).`, {
      fix: `ls -l ${file}`,
      cause: thrown,
    });
  });
  const { raw, lineOf } = parseYamlFile({ text, schema: nodeSchema, label: file });
  return [
    defaults,
    { values: raw, originOf: (path) => lineOf(path) ?? file },
    environmentLayer(env, leaves),
    flagLayer(flags, leaves),
  ];
};

const configOf = (layers: readonly Layer[]): NodeConfig => {
  const config = nodeSchema.parse(mergeLayers(layers, leaves));
  const { backend, allowedBackends } = config.execution;
  if (allowedBackends !== null && !namesBackend(allowedBackends, backend)) {
    throw new OrreryError('config_invalid', `The default backend "${backend}" is not among execution.allowedBackends.`, {
      rule: 'What tasks use by default must be allowed.',
      fix: 'orrery config explain execution.backend',
    });
  }
  return config;
};

const changedKeys = (before: NodeConfig, after: NodeConfig): string[] =>
  leaves
    .filter(({ path }) => JSON.stringify(valueAt(before, path)) !== JSON.stringify(valueAt(after, path)))
    .map(({ key }) => key);
