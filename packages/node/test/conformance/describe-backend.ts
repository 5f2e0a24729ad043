// The conformance suite of the execution contract: the same cases on every backend.
import { afterAll, beforeAll, describe } from 'vitest';
import type { Backend } from '../../src/exec/backend.ts';
import { endingCases } from './endings.ts';
import { grantCases } from './grants.ts';
import { limitCases, loadCases } from './limits.ts';
import { networkCases } from './network.ts';
import { portCases } from './ports.ts';
import { leftoverCases, restartCases } from './restarts.ts';
import { secretCases } from './secrets.ts';
import { openStage } from './stage.ts';
import type { BackendPlace, Expectations, Stage, Subject } from './stage.ts';
import { deviceCases, streamCases } from './streams.ts';

/**
 * The groups that can differ by the user a backend's programs run as: walls, rights, kills, limits, devices, and what is
 * closed to others. The rest is what the node and its keeper do with bytes, load and restarts. It is the same for everybody,
 * since a program's pipes and the keeper's records and sockets belong to whoever runs it, and it is tried once, as root.
 */
export const GROUPS_BY_USER = ['devices', 'endings', 'grants', 'network', 'ports', 'secrets', 'limits', 'leftovers'] as const;

/** Runs every case of the contract against a backend that promises `expectations`. */
export const describeBackend = (name: string, makeBackend: (place: BackendPlace) => Backend, expectations: Expectations): void =>
  describeSubject(name, (place) => ({ backend: makeBackend(place) }), expectations);

/** The same for a backend whose programs run somewhere else than on this machine */
export const describeSubject = (
  name: string,
  makeSubject: (place: BackendPlace) => Subject,
  expectations: Expectations,
): void => {
  const all: readonly (readonly [string, (stage: () => Stage, expectations: Expectations) => void])[] = [
    ['streams', streamCases],
    ['devices', deviceCases],
    ['endings', endingCases],
    ['grants', grantCases],
    ['network', networkCases],
    ['ports', portCases],
    ['secrets', secretCases],
    ['limits', limitCases],
    ['load', loadCases],
    ['restarts', restartCases],
    ['leftovers', leftoverCases],
  ];
  const groups = all.filter(([group]) => expectations.groups?.includes(group) ?? true);
  describe.each(groups)(`${name}: %s`, (_group, cases) => {
    let stage: Stage | null = null;
    beforeAll(async () => {
      stage = await openStage(makeSubject);
    });
    afterAll(async () => {
      await stage?.close();
    });
    cases(() => stage!, expectations);
  });
};
