import { describe, expect, it } from 'vitest';
import { imageOf } from './image.ts';
import { kubernetesOptions } from './options.ts';

const options = (given: Record<string, unknown>) => kubernetesOptions.parse(given);

describe('the image of a pod', () => {
  it("is the repository's when its prefix is allowed, else the operator's", () => {
    const given = options({ image: 'ours:1', allowedImagePrefixes: ['registry/team/'] });
    expect([imageOf(given, 'registry/team/a:2'), imageOf(given, null)]).toEqual(['registry/team/a:2', 'ours:1']);
  });

  it('that the repository may not have is refused, never replaced', () => {
    for (const asked of ['other/a:1', 'registry/team/a b', `registry/team/${'a'.repeat(600)}`, ''])
      expect(() => imageOf(options({ image: 'ours:1', allowedImagePrefixes: ['registry/team/'] }), asked)).toThrow(
        expect.objectContaining({ code: 'backend_forbidden' }),
      );
    expect(() => imageOf(options({ image: 'ours:1' }), 'registry/team/a:2')).toThrow(/no image of their own|not allowed/);
  });

  it('that nobody names is an error that says what to set', () => {
    expect(() => imageOf(options({}), null)).toThrow(expect.objectContaining({ code: 'backend_unavailable' }));
  });
});
