// Programs as an operator declares them.

import { OrreryError } from '@orrery/protocol/errors';
import type { NodeConfig } from '../../config/node-schema.ts';
import type { Harness } from '../harness.ts';
import { ownHarness, usualHarnesses } from '../own/index.ts';
import { splitModel } from '../model-name.ts';
import { turnHarness } from './index.ts';

/** Adds what the configuration declares, and the usual programs that it does not, to the adapters of this version. @throws OrreryError config_invalid when one has the name of another */
export const withDeclared = (builtin: readonly Harness[], declared: NodeConfig['harnesses']): readonly Harness[] => [
  ...builtin,
  ...usualHarnesses.filter(({ id }) => declared[id] === undefined),
  ...Object.entries(declared).map(([id, settings]) => {
    const { model, callsModel, description, command, env, egress, files } = settings;
    if (builtin.some((harness) => harness.id === id))
      throw new OrreryError(
        'config_invalid',
        `The harness ${JSON.stringify(id)} of the configuration has the name of a built-in one.`,
        {
          rule: 'A name means one program on every node.',
          fix: `Give it another name below "harnesses", for example my-${id}.`,
        },
      );
    if (settings.speaks === 'acp') return ownHarness(id, settings);
    const own = model === null || !callsModel ? null : splitModel(model, '');
    return turnHarness({ id, description, command, env, model: own, egress, files });
  }),
];
