import { taskCreate } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { nodeSchema } from '../config/node-schema.ts';
import type { Backends } from './backends.ts';
import { settleAttempt } from './run-doors.ts';

const settle = (image: string | undefined, { backend, projectFile = null }: { backend: string; projectFile?: string | null }) => {
  const execution = { backend, allowedImages: ['debian:*'], projectImages: { site: 'pinned:1' } };
  const config = nodeSchema.parse({ execution });
  const get = (name: string) => ({ name, defaultRequired: [], takesImages: name !== 'sandbox' });
  const project = { id: 'prj_1', name: 'site', path: '/site' };
  return settleAttempt({
    config: { current: () => config },
    backends: { get } as unknown as Backends,
    projects: { byIds: async (ids) => new Map(ids.map((id) => [id, project])) } as Parameters<
      typeof settleAttempt
    >[0]['projects'],
  })({
    intent: taskCreate.parse({ prompt: 'do it', ...(image === undefined ? {} : { image }) }),
    projectId: projectFile === null ? null : project.id,
    projectFile,
  });
};

describe('the image of an attempt', () => {
  it('is the one that the request names, or that is pinned for its project', async () => {
    expect((await settle('debian:12', { backend: 'docker' })).image).toBe('debian:12');
    expect((await settle(undefined, { backend: 'docker', projectFile: 'image: own\n' })).image).toBe('pinned:1');
  });

  it('is refused where the backend has none, but only a request: a project says what it has where there are images', async () => {
    await expect(settle('debian:12', { backend: 'sandbox' })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('the backend sandbox has none') as unknown,
    });
    expect((await settle(undefined, { backend: 'sandbox', projectFile: '' })).backend).toBe('sandbox');
  });
});
