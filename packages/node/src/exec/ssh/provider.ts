// The places of the backend ssh: folders on a host of the user's OpenSSH configuration.
import { OrreryError } from '@orrery/protocol/errors';
import { readProbe } from '../../keeper/records.ts';
import type { GuaranteeReport } from '../../keeper/types.ts';
import { DEFAULT_REQUIRED } from '../guarantee-check.ts';
import { mustRun } from '../remote/command.ts';
import type { Place, PlaceProvider } from '../remote/place.ts';
import { carryKeeper } from './carry.ts';
import type { Host } from './host.ts';
import { clearSocket, forwardSocket } from './forward.ts';
import {
  cacheOf,
  environmentIn,
  environmentsOf,
  FORGET,
  installationOf,
  keeperOf,
  LINK,
  LIST,
  MAKE,
  rootOf,
  socketsOf,
} from './layout.ts';
import { createPlace, isThere, newRef, readRef, refuseNoForward, removeRoot, sameMachine } from './place.ts';
import type { BrokerWay } from './place.ts';

/** What a provider is made of. */
export type SshProviderParts = {
  /** The configured host. */
  readonly host: Host;
  /** A host by the name that an older environment was opened with. */
  readonly hostNamed: (name: string) => Host;
  readonly installation: string;
  readonly keeperProgram: (arch: string) => string;
  readonly broker: BrokerWay;
};

const CANNOT_STOP: readonly string[] = [
  'Anyone who is root on the host, or the same user there: they can read and change everything of an environment.',
  'A fault of the kernel of the host.',
  'Filling the disk of the host with many files: a limit bounds each file, not their sum.',
  'Sending data to an allowed host: names are checked, contents are not.',
];

const refuseLeftovers = (host: Host, user: string): OrreryError =>
  new OrreryError('backend_unavailable', `The host ${host.name} ends everything that a session leaves running.`, {
    rule: 'What an environment runs lives on when the connection is lost.',
    fix: `Set KillExcludeUsers=${user} (or KillUserProcesses=no) in /etc/systemd/logind.conf there, then: systemctl restart systemd-logind`,
  });

/** What a confined program would get there, tried for real. */
const probeHost = async (host: Host, keeperProgram: SshProviderParts['keeperProgram']): Promise<readonly GuaranteeReport[]> => {
  const keeper = await carryKeeper(host, keeperProgram);
  const said = await mustRun(host, [keeper, 'probe'], { what: 'Asking what the host can guarantee' });
  return readProbe(JSON.parse(said.toString('utf8')));
};

/** Forwards a socket that nobody uses, once. */
const checkForward = async (host: Host): Promise<void> => {
  const name = `${socketsOf((await host.facts()).home)}/checked`;
  const forwarded = await forwardSocket(host, name, '/dev/null');
  if (forwarded === null) throw refuseNoForward(host);
  forwarded.close();
  await clearSocket(host, name);
};

/** The provider. */
export const createSshProvider = ({ host, hostNamed, installation, keeperProgram, broker }: SshProviderParts): PlaceProvider => {
  const placeOn = async (on: Host, ref: ReturnType<typeof newRef>): Promise<Place> =>
    createPlace({ host: on, ref, facts: await on.facts(), keeper: () => carryKeeper(on, keeperProgram), broker });
  return {
    name: 'ssh',
    provides: [],
    cannotStop: CANNOT_STOP,
    defaultRequired: DEFAULT_REQUIRED,
    preflight: async () => {
      const { endsLeftovers, user } = await host.facts();
      if (endsLeftovers) throw refuseLeftovers(host, user);
      await carryKeeper(host, keeperProgram);
      if (broker === 'forward') await checkForward(host);
    },
    probe: () => probeHost(host, keeperProgram),
    create: async ({ environmentId }, progress) => {
      progress(`connecting to ${host.name}`);
      const facts = await host.facts();
      const root = rootOf(facts.home, installation, environmentId);
      // The folder first: while it is there, nobody takes the keeper program away again.
      await mustRun(host, ['sh', '-c', MAKE, 'sh', root], { what: 'Making its folder' });
      const keeper = await carryKeeper(host, keeperProgram);
      await mustRun(host, ['sh', '-c', LINK, 'sh', keeper, keeperOf(root)], { what: 'Giving it the keeper program' });
      return placeOn(host, newRef(host, facts, root));
    },
    find: async (_id, words) => {
      const ref = readRef(words);
      if (ref === null)
        throw new OrreryError('store_damaged', 'The record of an environment does not say where on its host it is.');
      const on = hostNamed(ref.host);
      await sameMachine(on, ref);
      return (await isThere(on, ref)) ? placeOn(on, ref) : null;
    },
    list: async () => {
      const { home } = await sameMachine(host, { machine: '' });
      const listed = await mustRun(host, ['sh', '-c', LIST, 'sh', installationOf(home, installation)], {
        what: 'Listing environments',
      });
      return listed
        .toString()
        .split('\n')
        .flatMap((name) => environmentIn(name) ?? []);
    },
    sweep: async (environmentId) => {
      const { home } = await sameMachine(host, { machine: '' });
      const root = rootOf(home, installation, environmentId);
      if (await isThere(host, { root, home })) await removeRoot(host, { root, home }, await carryKeeper(host, keeperProgram));
      await mustRun(host, ['sh', '-c', FORGET, 'sh', environmentsOf(home), cacheOf(home)], { what: 'Clearing the cache' });
    },
  };
};
