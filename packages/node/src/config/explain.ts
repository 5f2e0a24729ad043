import type { ConfigExplained } from '@orrery/protocol';
import { findLeaf, leavesOf, sourcesOf, type Layer, type Leaf, type Sourced } from './layers.ts';
import { restartKeys } from './node-schema.ts';
import { projectSchema } from './project-schema.ts';
import { parseYamlFile } from './yaml-file.ts';

/** A project file to explain keys with. */
export type ProjectFileText = { readonly text: string; readonly label: string };

const projectLeaves = leavesOf(projectSchema);

/** Keys that have another name in the node's file. */
const nodeNames: Readonly<Record<string, string>> = { backend: 'execution.backend' };

type Given = { readonly layers: readonly Layer[]; readonly leaves: readonly Leaf[]; readonly project: ProjectFileText | null };

/**
 * Where the value of a key comes from and what it shadows. With a project file, its keys come between the node's file and
 * the environment. Throws `unknown_key`.
 */
export const explainKey = (key: string, given: Given): ConfigExplained => explainerOf(given)(key);

/** Every key there is, a map or a list being one; with a project file, its own after those that the node's file alone can set. */
export const explainAll = (given: Given): ConfigExplained[] => {
  const ofProject = given.project === null ? [] : projectLeaves;
  const own = new Set(ofProject.map(({ key }) => key));
  const keys = [...given.leaves.filter(({ key }) => !own.has(key)), ...ofProject].map(({ key }) => key);
  return keys.map(explainerOf(given));
};

const explainerOf = ({ layers, leaves, project }: Given): ((key: string) => ConfigExplained) => {
  const file = project === null ? null : parseYamlFile({ text: project.text, schema: projectSchema, label: project.label });
  const known = project === null ? leaves : [...leaves, ...projectLeaves];
  return (key) => {
    const ofProject = project === null ? undefined : projectLeaves.find((one) => one.key === key);
    const leaf = ofProject ?? findLeaf(known, key);
    const ofNode = sourcesOf(layers, (ofProject === undefined ? key : (nodeNames[key] ?? key)).split('.'));
    if (ofProject === undefined || file === null) return explained(key, leaf, ofNode);
    const own: Layer = { values: file.raw, originOf: (path) => file.lineOf(path) ?? project!.label };
    // What a project alone can say has its default here.
    const defaults: Layer[] = ofNode.length === 0 ? [{ values: file.value, originOf: () => 'default' }] : [];
    return explained(key, leaf, [...sourcesOf([...defaults, own], leaf.path), ...ofNode]);
  };
};

const explained = (key: string, leaf: Leaf, [top, ...shadows]: readonly Sourced[]): ConfigExplained => ({
  key,
  value: top?.value ?? null,
  origin: top?.origin ?? 'default',
  shadows,
  restart: !projectLeaves.includes(leaf) && restartKeys.includes(leaf.key),
  description: leaf.description,
});
