// The provider of the conformance suite's own places: folders beside the state of the backend.
import { join } from 'node:path';
import type { PlaceProvider } from '../../src/exec/remote/place.ts';
import { createFakePlaces } from './fake-place.ts';

export const providerOf = (_given: unknown, stateDir: string): PlaceProvider =>
  createFakePlaces(join(stateDir, '..', '..', 'places'));
