import { describe, expect, it } from 'vitest';
import { createKeeperClient } from '../../keeper/client.ts';
import { dockerFactory } from './index.ts';

const factory = dockerFactory({
  keeper: createKeeperClient({ binary: () => '/nowhere/keeper' }),
  stateDir: '/nowhere/exec',
  protectedPaths: [],
  variables: {},
  installation: 'inst-1',
  keeperProgram: () => '/nowhere/keeper',
});

describe('the backend docker without an engine', () => {
  it('says where it looked and how to get one', async () => {
    await expect(factory.make({ socket: '/nowhere/docker.sock' }).preflight([])).rejects.toMatchObject({
      code: 'backend_unavailable',
      message: 'No container engine listens at /nowhere/docker.sock.',
      fix: expect.stringContaining('apt-get install docker.io'),
    });
  });

  it('names a wrong option and guesses the right one', () => {
    expect(() => factory.make({ sockett: '/x' })).toThrow(
      expect.objectContaining({ code: 'unknown_key', fix: 'Did you mean "socket"?' }),
    );
  });
});
