import type { MemoryKind, TaskIntent, TaskLimits } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { namesBackend } from './backend-names.ts';
import { covers } from './egress-cover.ts';
import type { NodeConfig } from './node-schema.ts';
import type { ProjectConfig } from './project-schema.ts';
import { settleImage, type ImageAsked } from './settle-image.ts';
import { widening } from './widening.ts';

/** What a task runs with: its request over the project's file over the node's configuration, within what the operator set. */
export type TaskSettings = {
  readonly harness: string;
  readonly model: string | null;
  readonly effort: string | null;
  readonly backend: string;
  readonly base: string | null;
  readonly maxRetries: number;
  readonly retryPrompt: string;
  readonly egress: readonly string[];
  readonly ports: readonly string[];
  readonly wallMs: number;
  readonly hookMs: number;
  readonly turnMs: number;
  readonly cpuSeconds: number | null;
  readonly memoryBytes: number | null;
  readonly processes: number | null;
  readonly outputBytes: number;
  readonly diskBytes: number | null;
  readonly image: string | null;
  readonly copy: readonly string[];
  readonly cache: readonly string[];
  /** What the project's image, variables and user come from, when the base commit has to be asked; absent: nothing of it. */
  readonly imageFrom?: ImageAsked;
  readonly submodules: ProjectConfig['submodules'];
  readonly lfs: ProjectConfig['lfs'];
  readonly setup: readonly string[];
  readonly memory: readonly MemoryKind[];
};

type Request = Pick<
  TaskIntent,
  'harness' | 'model' | 'effort' | 'backend' | 'image' | 'base' | 'maxRetries' | 'egress' | 'limits' | 'memory'
>;
type Asked = {
  readonly request: Request;
  readonly project: ProjectConfig;
  readonly node: NodeConfig;
  /** The image that the operator pinned for the project. Absent or null: none. */
  readonly pin?: string | null;
};

/**
 * Merges them. A project file that would widen what the operator set (backend, egress, limits) is refused with
 * `widening_refused`, which names the key; so is a request for egress or limits. A backend that the operator excluded is
 * `backend_forbidden`.
 */
export const settleTask = ({ request, project, node, pin = null }: Asked): TaskSettings => {
  const harness = request.harness ?? project.harness ?? node.harness;
  // A project's model is one of the project's program; another program has other models.
  const sameProgram = request.harness === undefined || request.harness === (project.harness ?? node.harness);
  return {
    harness,
    model: request.model ?? (sameProgram ? project.model : undefined) ?? null,
    effort: request.effort ?? (sameProgram ? project.effort : undefined) ?? null,
    backend: settleBackend({ request, project, node }),
    base: request.base ?? project.base ?? null,
    maxRetries: request.maxRetries ?? project.validation.maxRetries,
    retryPrompt: project.validation.retryPrompt,
    egress: settleEgress({ request, project, node }),
    ...settleImage({ request, project, node, pin }),
    copy: project.copy,
    cache: project.cache,
    submodules: project.submodules,
    lfs: project.lfs,
    setup: project.setup,
    memory: settleMemory({ request, project, node }),
    ports: project.ports,
    ...settleLimits({ request, project, node }),
  };
};

const settleBackend = ({ request, project, node }: Asked): string => {
  const { backend, allowedBackends } = node.execution;
  // A file of the repository must not choose less protection: without a list it may only name the default.
  if (project.backend !== undefined && !namesBackend(allowedBackends ?? [backend], project.backend)) {
    throw widening('backend', `The project file asks for the backend "${project.backend}".`, {
      rule: `The operator allows project files ${(allowedBackends ?? [backend]).join(', ')}.`,
      fix: `Add it to execution.allowedBackends of the node, or ask for it yourself: orrery run --backend ${project.backend}`,
    });
  }
  const chosen = request.backend ?? project.backend ?? backend;
  if (allowedBackends === null || namesBackend(allowedBackends, chosen)) return chosen;
  throw new OrreryError('backend_forbidden', `The backend "${chosen}" is not allowed on this node.`, {
    rule: `The operator allows ${allowedBackends.join(', ')} (execution.allowedBackends).`,
    fix: `orrery run --backend ${allowedBackends[0] ?? backend}`,
    details: { backend: chosen, allowed: allowedBackends },
  });
};

/** The request's memories, else the project's, else all that the operator gives; never more than those. */
const settleMemory = ({ request, project, node }: Asked): readonly MemoryKind[] => {
  const check = (kinds: readonly MemoryKind[] | undefined, who: string): void => {
    const beyond = kinds?.find((kind) => !node.memory.includes(kind));
    if (beyond === undefined) return;
    throw widening('memory', `${who} asks for the memory "${beyond}".`, {
      rule:
        node.memory.length === 0
          ? 'The operator gives no memory (memory).'
          : `The operator gives ${node.memory.join(', ')} (memory).`,
      fix: `Add "${beyond}" to memory in the configuration of the node: orrery config path`,
    });
  };
  check(project.memory, 'The project file');
  check(request.memory, 'The request');
  return request.memory ?? project.memory ?? node.memory;
};

const settleEgress = ({ request, project, node }: Asked): readonly string[] => {
  const check = (rules: readonly string[], who: string): void => {
    const beyond = rules.find((rule) => !node.egress.allow.some((given) => covers(given, rule)));
    if (beyond === undefined) return;
    throw widening('egress', `${who} asks to reach "${beyond}".`, {
      rule:
        node.egress.allow.length === 0
          ? 'The operator allows no host (egress.allow).'
          : 'It is not within egress.allow of the node.',
      fix: `Add "${beyond}" to egress.allow in the configuration of the node: orrery config path`,
    });
  };
  check(project.egress, 'The project file');
  check(request.egress ?? [], 'The request');
  return [...new Set([...project.egress, ...(request.egress ?? [])])];
};

type Limits = Pick<TaskSettings, keyof TaskLimits & keyof TaskSettings>;

const settleLimits = ({ request, project, node }: Asked): Limits => {
  const one = <Key extends keyof TaskLimits>(key: Key): NodeConfig['limits'][Key] => {
    const ceiling = node.limits[key];
    const check = (value: number | undefined, who: string): void => {
      if (value === undefined || ceiling === null || value <= ceiling) return;
      throw widening(`limits.${key}`, `${who} asks for limits.${key} of ${value}.`, {
        rule: `The operator allows at most ${ceiling}.`,
        fix: `Ask for less, or raise limits.${key} in the configuration of the node: orrery config path`,
      });
    };
    check(project.limits?.[key], 'The project file');
    check(request.limits?.[key], 'The request');
    return (request.limits?.[key] ?? project.limits?.[key] ?? ceiling) as NodeConfig['limits'][Key];
  };
  return {
    wallMs: one('wallMs'),
    hookMs: one('hookMs'),
    turnMs: one('turnMs'),
    cpuSeconds: one('cpuSeconds'),
    memoryBytes: one('memoryBytes'),
    processes: one('processes'),
    outputBytes: one('outputBytes'),
    diskBytes: one('diskBytes'),
  };
};
