import { describe, expect, it } from 'vitest';
import type { RemoteBackendParts } from '../remote/index.ts';
import { imageOf } from './image.ts';
import { kubernetesFactory } from './index.ts';
import { kubernetesOptions } from './options.ts';

const options = (given: Record<string, unknown>) => kubernetesOptions.parse(given);

describe('the image of a pod', () => {
  it("is the project's, else the operator's", () => {
    const given = options({ image: 'ours:1' });
    expect([imageOf(given, 'registry/team/a:2'), imageOf(given, null)]).toEqual(['registry/team/a:2', 'ours:1']);
  });

  it('has no list of its own: the one of all backends decided before', () => {
    const make = () => kubernetesFactory({} as RemoteBackendParts).make({ allowedImagePrefixes: ['registry/team/'] });
    expect(make).toThrow(
      expect.objectContaining({
        code: 'unknown_key',
        message: 'execution.options.kubernetes has no key "allowedImagePrefixes" any more.',
        fix: expect.stringContaining('execution.allowedImages') as unknown,
      }),
    );
  });

  it('that nobody names is an error that says what to set', () => {
    expect(() => imageOf(options({}), null)).toThrow(expect.objectContaining({ code: 'backend_unavailable' }));
  });
});
