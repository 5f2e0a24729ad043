// The conformance suite on a backend whose environments are places somewhere else.
//
// A provider is made by a module of its own, since some cases start a second node as another process, which has to find
// the same places: the module exports `providerOf(given, stateDir)`, where `given` is whatever can be written as JSON (the
// socket of an engine, the address of a host).
import { join } from 'node:path';
import type { Backend } from '../../src/exec/backend.ts';
import { createRemoteBackend } from '../../src/exec/remote/index.ts';
import type { Place, PlaceProvider } from '../../src/exec/remote/place.ts';
import { mustRun } from '../../src/exec/remote/command.ts';
import { placeDirectory } from '../../src/exec/remote/record.ts';
import { describeSubject } from '../conformance/describe-backend.ts';
import { ownNode } from '../conformance/stage.ts';
import type { BackendPlace, Expectations, Subject, Venue } from '../conformance/stage.ts';
import { remoteParts } from './remote-parts.ts';

/** What a module of a provider exports. */
export type ProviderModule = { readonly providerOf: (given: unknown, stateDir: string) => PlaceProvider };

/** What is told of a remote backend. */
export type RemoteSubject = {
  /** Path of the module, and the module itself. */
  readonly path: string;
  readonly module: ProviderModule;
  /** Asked when a stage is set: servers that tests start are there by then. */
  readonly given: () => unknown;
  /** Where Node is in a place. Default: where it is on this machine, seen there as it is here. */
  readonly node?: Venue['node'];
};

/** What the second process is told: which provider it shall use, with what. */
export type RemoteGiven = { readonly path: string; readonly given: unknown };

const subjectOf = ({ path, module, given: ask, node = ownNode }: RemoteSubject, place: BackendPlace): Subject => {
  const given = ask();
  const provider = module.providerOf(given, place.stateDir);
  const backend: Backend = createRemoteBackend(provider, remoteParts(place.stateDir, { protectedPaths: place.protectedPaths }));
  const placeOf = async (id: string): Promise<Place> => {
    const record = await placeDirectory(join(place.stateDir, provider.name), id).read();
    const found = record?.ref == null ? null : await provider.find(id, record.ref);
    if (found === null) throw new Error(`there is no place of ${id}`);
    return found;
  };
  const venue: Venue = {
    shell: async (id, script, ...words) => {
      const argv = ['sh', '-c', script, 'sh', ...words];
      return (await mustRun(await placeOf(id), argv, { what: 'A script of a case' })).toString('utf8');
    },
    runsOf: async (id) => `${(await placeOf(id)).root}/runs`,
    node,
    module: { path: join(import.meta.dirname, 'remote-module.ts'), given: { path, given } satisfies RemoteGiven },
  };
  return { backend, venue };
};

/** Runs the cases of the contract on places of a provider. */
export const describeRemote = (name: string, subject: RemoteSubject, expectations: Expectations): void =>
  describeSubject(name, (place) => subjectOf(subject, place), expectations);
