import type { BackendView } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { nodeSchema } from '../config/node-schema.ts';
import { backendLines } from './doctor-backends.ts';

const view = (name: string, change: Partial<BackendView> = {}): BackendView => ({
  name,
  aliases: [],
  summary: '',
  usable: false,
  problem: `No ${name}.`,
  fix: `Install ${name}.`,
  isDefault: false,
  allowed: true,
  takesImages: false,
  guarantees: [],
  cannotStop: [],
  ...change,
});

const views = [
  view('sandbox', { usable: true, problem: null, fix: null, isDefault: true }),
  view('bubblewrap', { aliases: ['bwrap'] }),
  view('docker', { aliases: ['podman'] }),
  view('kubernetes'),
  view('ssh'),
];

const told = async (execution: object, inUse: readonly string[] = [], given = views): Promise<string[]> => {
  const config = nodeSchema.parse({ execution });
  const lines = await backendLines({ backends: { views: async () => given }, config: { current: () => config } }, new Set(inUse));
  return lines.map(({ area, state, message }) => `${area} ${state}: ${message}`);
};

describe('backends that cannot be used, to doctor', () => {
  it('are one quiet line where nobody asked for them', async () => {
    expect(await told({})).toEqual([
      'backend sandbox ok: Every guarantee holds on this machine.',
      'backends ok: Not set up, and not asked for: bubblewrap, docker, kubernetes, ssh. How to: orrery backend check NAME',
    ]);
  });

  it.each([
    ['has options', { options: { docker: { image: 'agent' } } }, []],
    ['is allowed by name', { allowedBackends: ['sandbox', 'podman'] }, []],
    ['holds an environment', {}, ['docker']],
  ])('are a warning each where one %s', async (_, execution, inUse) => {
    expect(await told(execution, inUse)).toEqual([
      'backend sandbox ok: Every guarantee holds on this machine.',
      'backend docker warning: No docker.',
      'backends ok: Not set up, and not asked for: bubblewrap, kubernetes, ssh. How to: orrery backend check NAME',
    ]);
  });

  it('are a problem where it is the usual one', async () => {
    const docker = view('docker', { isDefault: true });
    expect(await told({ backend: 'docker' }, [], [docker])).toEqual(['backend docker problem: No docker.']);
  });
});
