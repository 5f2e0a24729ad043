import { describe, expect, it } from 'vitest';
import { nodeSchema } from '../config/node-schema.ts';
import { checkTakesImage, settleRequest, type SettlingGround } from './settle-request.ts';

const ground: SettlingGround = {
  config: {
    current: () => nodeSchema.parse({ execution: { allowedImages: ['debian:*'], projectImages: { site: 'pinned:1' } } }),
  },
  projects: {
    byIds: async (ids) =>
      new Map(ids.map((id) => [id, { id, name: id === 'prj_1' ? 'site' : 'other', path: '/somewhere', seq: 1 }])),
  },
};

const imageOf = async (project: string | null, image?: string): Promise<unknown> => {
  const projectFile = project === null ? null : 'image: own:1\n';
  const request = image === undefined ? {} : { image };
  return settleRequest(ground, { request, projectId: project, projectFile }).then(
    (settled) => settled.image,
    ({ code, details }: { code: string; details: unknown }) => [code, details],
  );
};

describe('the image of whatever is asked of the node', () => {
  it('is the pinned one where the operator pinned one, though neither list nor file name it', async () => {
    expect(await imageOf('prj_1')).toBe('pinned:1');
    expect(await imageOf('prj_1', 'pinned:1')).toBe('pinned:1');
    expect(await imageOf('prj_1', 'debian:12')).toEqual(['widening_refused', { key: 'image' }]);
  });

  it('is the named one elsewhere, before one of the file that is not allowed', async () => {
    expect(await imageOf('prj_2', 'debian:12')).toBe('debian:12');
    expect(await imageOf('prj_2')).toEqual(['widening_refused', { key: 'image' }]);
    expect(await imageOf('prj_2', 'alpine:3')).toEqual(['widening_refused', { key: 'image' }]);
    expect(await imageOf(null)).toBeNull();
  });

  it('is refused in three lines, with its key, where a backend has none', () => {
    expect(() => checkTakesImage({ name: 'ssh' }, undefined)).not.toThrow();
    expect(() => checkTakesImage({ name: 'docker', takesImages: true }, 'debian:12')).not.toThrow();
    let thrown: unknown = null;
    try {
      checkTakesImage({ name: 'ssh' }, 'debian:12');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: 'unsupported',
      message: 'The request names an image, and the backend ssh has none.',
      rule: 'Containers and pods are made from images; elsewhere programs run with what the machine has.',
      fix: 'Leave --image away, or name a backend with images: --backend docker',
      details: { key: 'image' },
    });
  });
});
