import { expect, it } from 'vitest';
import type { Environments } from '../environment/index.ts';
import { placeFor, refuseBeside } from './session-places.ts';

it('the environment that is made for a session has the image that was named for it', async () => {
  const asked: unknown[] = [];
  const environments = {
    create: async (body: object, more: object) => {
      asked.push({ ...body, requestId: 'one' }, more);
      return { id: 'env_1', name: 'site-1', project: { id: 'prj_1', name: 'site' } };
    },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of them is used
  } as unknown as Environments;
  const place = await placeFor(
    environments,
    { project: 'site', backend: 'docker', image: 'debian:12' },
    { requestId: 'r', egress: [] },
  );
  expect(place).toEqual({ id: 'env_1', name: 'site-1', projectId: 'prj_1' });
  expect(asked).toEqual([
    { project: 'site', backend: 'docker', image: 'debian:12', start: true, requestId: 'one' },
    { egress: [] },
  ]);
});

it('what a session says of an environment that is there must be true of it', () => {
  const there = { name: 'fix', backend: 'docker' };
  expect(() => refuseBeside({ environment: 'fix', backend: 'docker' }, there)).not.toThrow();
  expect(() => refuseBeside({ environment: 'fix', backend: 'ssh', image: 'debian:12', base: 'v2' }, there)).toThrow(
    expect.objectContaining({
      code: 'invalid_input',
      message: 'The environment fix is another than --backend and --image and --base says.',
      fix: 'Leave --backend and --image and --base away, or make another: orrery env create',
    }),
  );
});
