import type { configExplained } from '@orrery/protocol';
import type { z } from 'zod';
import { findLeaf, leavesOf, sourcesOf, type Layer, type Leaf } from './layers.ts';
import { restartKeys } from './node-schema.ts';
import { projectSchema } from './project-schema.ts';
import { parseYamlFile } from './yaml-file.ts';

/** A project file to explain keys with. */
export type ProjectFileText = { readonly text: string; readonly label: string };

const projectLeaves = leavesOf(projectSchema);

/** Keys that have another name in the node's file. */
const nodeNames: Readonly<Record<string, string>> = { backend: 'execution.backend' };

type Asked = {
  readonly key: string;
  readonly layers: readonly Layer[];
  readonly leaves: readonly Leaf[];
  readonly project: ProjectFileText | null;
};

/**
 * Where the value of a key comes from and what it shadows. With a project file, its keys come between the node's file and
 * the environment. Throws `unknown_key`.
 */
export const explainKey = ({ key, layers, leaves, project }: Asked): z.output<typeof configExplained> => {
  const fromProject = project === null ? null : explainProjectKey(key, { layers, project });
  if (fromProject !== null) return fromProject;
  const leaf = findLeaf(project === null ? leaves : [...leaves, ...projectLeaves], key);
  const [top, ...shadows] = sourcesOf(layers, key.split('.'));
  return {
    key,
    value: top?.value ?? null,
    origin: top?.origin ?? 'default',
    shadows,
    restart: restartKeys.includes(leaf.key),
    description: leaf.description,
  };
};

const explainProjectKey = (
  key: string,
  { layers, project }: { layers: readonly Layer[]; project: ProjectFileText },
): z.output<typeof configExplained> | null => {
  const leaf = projectLeaves.find((one) => one.key === key);
  if (leaf === undefined) return null;
  const { raw, value, lineOf } = parseYamlFile({ text: project.text, schema: projectSchema, label: project.label });
  const own: Layer = { values: raw, originOf: (path) => lineOf(path) ?? project.label };
  const ofNode = sourcesOf(layers, (nodeNames[key] ?? key).split('.'));
  // What a project alone can say has its default here.
  const ofProject = sourcesOf(ofNode.length === 0 ? [{ values: value, originOf: () => 'default' }, own] : [own], leaf.path);
  const [top, ...shadows] = [...ofProject, ...ofNode];
  return {
    key,
    value: top?.value ?? null,
    origin: top?.origin ?? 'default',
    shadows,
    restart: false,
    description: leaf.description,
  };
};
