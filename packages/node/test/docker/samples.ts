// What the tests of the backend docker start from.
import { dockerOptions } from '../../src/exec/docker/options.ts';
import type { DockerOptions } from '../../src/exec/docker/options.ts';
import type { PlaceSpec } from '../../src/exec/remote/place.ts';

export const sampleOptions = (over: Partial<DockerOptions> = {}): DockerOptions => ({ ...dockerOptions.parse({}), ...over });

export const samplePlace = (over: Partial<PlaceSpec> = {}): PlaceSpec => ({
  environmentId: 'env-1',
  taskId: 'task-1',
  installation: 'inst-1',
  image: null,
  keeps: false,
  project: null,
  limits: {},
  mountable: [],
  ...over,
});
