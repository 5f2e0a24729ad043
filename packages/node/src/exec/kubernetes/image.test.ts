import { describe, expect, it } from 'vitest';
import { imageOf } from './image.ts';
import { kubernetesOptions } from './options.ts';

const options = (given: Record<string, unknown>) => kubernetesOptions.parse(given);

describe('the image of a pod', () => {
  it("is the project's, else the operator's", () => {
    const given = options({ image: 'ours:1' });
    expect([imageOf(given, 'registry/team/a:2'), imageOf(given, null)]).toEqual(['registry/team/a:2', 'ours:1']);
  });

  it('has no list of its own: the one of all backends decided before', () => {
    expect(() => options({ allowedImagePrefixes: ['registry/team/'] })).toThrow(/allowedImagePrefixes/);
  });

  it('that nobody names is an error that says what to set', () => {
    expect(() => imageOf(options({}), null)).toThrow(expect.objectContaining({ code: 'backend_unavailable' }));
  });
});
