import { afterAll, describe } from 'vitest';
import { findKeeperBinary } from '../src/keeper/binary.ts';
import { directSpawner, type Spawner } from '../src/kernel/spawner.ts';
import { createStarter, type Starter } from '../src/starter/index.ts';

/** The keeper program that is built here. */
export const keeperBinary = (): string => findKeeperBinary();

/** A starter of the keeper program that is built here. */
export const openStarter = (): Starter => createStarter({ binary: keeperBinary });

/** Describes a promise twice: with commands that this process starts, and with a starter's. */
export const describeBothSpawners = (what: string, body: (spawner: Spawner) => void): void => {
  describe(`${what}, started here`, () => body(directSpawner));
  describe(`${what}, started by the starter`, () => {
    const starter = openStarter();
    afterAll(() => starter.close());
    body(starter);
  });
};
