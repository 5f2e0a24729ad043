// Backend `local`: a program as a plain child of a keeper, with no walls. For machines that are walls themselves.
import { z } from 'zod';
import type { GuaranteeReport, KeeperGuarantee } from '../../keeper/types.ts';
import type { BackendFactory } from '../backend.ts';
import { createKeeperBackend, freeLoopbackPort } from '../keeper-backend.ts';
import type { KeeperBackendParts } from '../keeper-backend.ts';
import { frontOptions, parseBackendOptions } from '../options.ts';
import { renderLocal } from './render.ts';

const optionsSchema = z.strictObject(frontOptions);

const NOTICE = 'confines nothing; the program can do whatever this user can';
const WALLS: readonly KeeperGuarantee[] = ['files', 'network', 'hosts', 'processes', 'signals'];
const noWall = (guarantee: KeeperGuarantee): GuaranteeReport => ({
  guarantee,
  held: false,
  by: 'nothing',
  missing: 'local confines nothing',
});

/** The factory of `local`. Options: `brokerHoldMs`, `brokerHoldMax`. */
export const localFactory = (parts: KeeperBackendParts): BackendFactory => ({
  name: 'local',
  aliases: [],
  summary: 'No confinement: a plain program of this user. For machines that are isolated already.',
  make: (options) => {
    const front = parseBackendOptions('local', optionsSchema, options);
    const kind = {
      name: 'local',
      notice: NOTICE,
      cannotStop: [
        'Reading and changing every file this user can, the data directory of the node among them.',
        'Reaching every host and port this machine can; the list of allowed hosts is only a proxy setting here.',
        'Seeing, signalling and tracing other processes of this user, the node among them.',
        'Getting away from its limits with the help of another service of the machine.',
      ],
      defaultRequired: [],
      guarantees: async (): Promise<readonly GuaranteeReport[]> => {
        const limits = (await parts.keeper.probe()).filter(({ guarantee }) => guarantee === 'limits');
        return [...WALLS.map(noWall), ...limits];
      },
      front,
      frontPort: freeLoopbackPort,
      render: renderLocal,
    };
    return createKeeperBackend(kind, parts);
  },
});
