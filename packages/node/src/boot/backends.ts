import type { BackendView } from '@orrery/protocol';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import type { NodeConfig } from '../config/node-schema.ts';
import type { Backend, BackendFactory } from '../exec/backend.ts';
import { resolveBackend } from '../exec/registry.ts';

/** The backends of a node as its configuration has them now. */
export type Backends = {
  /** Rejects unknown and forbidden names and wrong options. */
  get(name: string): Backend;
  /** Also one that is not allowed any more: what runs on it is still looked at. */
  any(name: string): Backend;
  /** Every backend that can be made, allowed or not: what a dead node used must be settled in any case. */
  all(): readonly Backend[];
  views(): Promise<BackendView[]>;
  /** Lets go of everything that backends hold open: the node stops, programs run on. */
  detach(): void;
};

/** Keeps one instance for each set of options, so that the machine is probed once. */
export const createBackends = (factories: readonly BackendFactory[], config: () => NodeConfig): Backends => {
  const made = new Map<string, Backend>();
  const make = (name: string, allowed: readonly string[] | null): Backend => {
    const factory = factories.find((one) => one.name === name || one.aliases.includes(name));
    const options = config().execution.options[factory?.name ?? name] ?? {};
    const key = `${factory?.name ?? name} ${JSON.stringify(options)}`;
    const kept = made.get(key);
    const fresh = resolveBackend(factories, { name, options, allowed });
    if (kept !== undefined) return kept;
    made.set(key, fresh);
    return fresh;
  };
  const view = async (factory: BackendFactory): Promise<BackendView> => {
    const { backend: standard, allowedBackends } = config().execution;
    const common = {
      name: factory.name,
      aliases: [...factory.aliases],
      summary: factory.summary,
      isDefault: [factory.name, ...factory.aliases].includes(standard),
      allowed: allowedBackends === null || [factory.name, ...factory.aliases].some((name) => allowedBackends.includes(name)),
    };
    try {
      const backend = make(factory.name, null);
      const problem = await backend.preflight(backend.defaultRequired).then(
        () => null,
        (thrown: unknown) => toOrreryError(thrown),
      );
      const here = problem === null ? await backend.about?.() : undefined;
      return {
        ...common,
        summary: here === undefined ? factory.summary : `${factory.summary} Here: ${here}.`,
        usable: problem === null,
        problem: problem?.message ?? null,
        fix: problem?.fix ?? null,
        takesImages: backend.takesImages === true,
        guarantees: [...(await backend.guarantees())],
        cannotStop: [...backend.cannotStop],
      };
    } catch (thrown) {
      const { message, fix } = toOrreryError(thrown);
      return { ...common, usable: false, problem: message, fix, takesImages: false, guarantees: [], cannotStop: [] };
    }
  };
  return {
    get: (name) => make(name, config().execution.allowedBackends),
    any: (name) => make(name, null),
    all: () =>
      factories.flatMap((factory) => {
        try {
          return [make(factory.name, null)];
        } catch (thrown) {
          if (thrown instanceof OrreryError) return [];
          throw thrown;
        }
      }),
    views: () => Promise.all(factories.map(view)),
    detach: () => {
      for (const backend of made.values()) backend.detach?.();
    },
  };
};
