import type { BackendView, Project } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { describe, expect, it } from 'vitest';
import { onBackend, takesImages } from './choices.ts';
import { errorsAt, fieldOf } from './errors.ts';
import { emptyWish, projectNamed, saidOf, wishFields } from './wish.ts';

describe('a wish', () => {
  it('asks for what was said and for nothing else', () => {
    expect(saidOf(emptyWish)).toEqual({});
    expect(saidOf({ ...emptyWish, who: 'agent:user:reviewer', model: ' m ', prompt: ' look\n' })).toEqual({
      agent: 'user:reviewer',
      model: 'm',
      prompt: ' look\n',
    });
    expect(saidOf({ ...emptyWish, who: 'harness:codex', backend: 'docker', base: 'main' })).toEqual({
      harness: 'codex',
      backend: 'docker',
      base: 'main',
    });
    expect(saidOf({ ...emptyWish, image: ' debian:12 ' })).toEqual({ image: 'debian:12' });
  });

  it('names an image only where the chosen backend says that it has images, whatever it is called', () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of a backend does not matter here
    const backends = [
      { name: 'usual', isDefault: true, takesImages: false },
      { name: 'boxes', isDefault: false, takesImages: true },
    ] as unknown as readonly BackendView[];
    expect(['', 'usual', 'boxes', 'unknown'].map((name) => takesImages(backends, name))).toEqual([false, false, true, false]);
    expect(takesImages(undefined, 'boxes')).toBe(false);
    expect(onBackend(backends, 'boxes')).toEqual({ backend: 'boxes' });
    expect(onBackend(backends, '')).toEqual({ backend: '', image: '' });
  });

  it('finds a project by its id, its name and where it is', () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rest of a project does not matter here
    const one = { id: 'prj_1', name: 'site', source: '/srv/site' } as Project;
    expect(['prj_1', ' site ', '/srv/site'].map((words) => projectNamed([one], words))).toEqual([one, one, one]);
    expect(projectNamed([one], '/srv/other')).toBeUndefined();
  });
});

describe('a refusal', () => {
  const invalid = new OrreryError('invalid_input', 'That is no branch.', {
    details: { issues: [{ path: 'base', message: 'no spaces' }] },
  });

  it('stands at the field that it names, else at the one its code is about, else at the form', () => {
    expect(fieldOf(invalid, wishFields)).toBe('base');
    expect(fieldOf(new OrreryError('harness_not_installed', 'codex is not there.'), wishFields)).toBe('who');
    const refused = (code: 'widening_refused' | 'unsupported', key: string) =>
      fieldOf(new OrreryError(code, 'Not here.', { details: { key } }), wishFields);
    expect([refused('widening_refused', 'image'), refused('unsupported', 'image')]).toEqual(['image', 'image']);
    expect(refused('widening_refused', 'egress')).toBeNull();
    expect(fieldOf(new OrreryError('disk_full', 'No room.'), wishFields)).toBeNull();
    expect(fieldOf(new Error('the network'), wishFields)).toBeNull();
  });

  it('stands at one place', () => {
    const at = errorsAt(invalid, wishFields);
    expect([at('base'), at('prompt'), at(null)]).toEqual([invalid, null, null]);
    expect(errorsAt(null, wishFields)(null)).toBeNull();
  });
});
