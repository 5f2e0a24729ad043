import { OrreryError } from '@orrery/protocol/errors';
import type { Place } from './place.ts';
import type { PlaceRecord } from './record.ts';

/** What stands for a place that is certainly gone: everything asked of it says so, and removing it removes what is left. */
export const gonePlace = ({ id, ref, root }: PlaceRecord, sweep: () => Promise<void>): Place => {
  const why = 'it is not there any more';
  return {
    ref: ref ?? {},
    identity: { host: id },
    root: root ?? '/',
    owner: null,
    variables: {},
    mounted: [],
    exec: () => Promise.reject(new OrreryError('backend_unreachable', `The place of ${id} is gone.`)),
    state: () => Promise.resolve({ state: 'gone', why }),
    explain: () => Promise.resolve(null),
    stats: () => Promise.resolve({ processes: null, memoryBytes: null, diskBytes: null }),
    remove: sweep,
    detach: () => undefined,
  };
};
