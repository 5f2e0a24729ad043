// One environment on a host: a folder there, and what runs in it.
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { nobodyCanTell, unreachable } from '../remote/command.ts';
import { measurePlace } from '../remote/measure.ts';
import type { Place, PlaceState } from '../remote/place.ts';
import { forwardSocket } from './forward.ts';
import { variablesOf } from './host.ts';
import type { Host } from './host.ts';
import type { HostFacts } from './facts.ts';
import { environmentsOf, keeperOf, LOOK, programsOf, REMOVE, socketsOf } from './layout.ts';
import { REMOVE_MS } from './limits.ts';

/** What finds a place again. */
export type PlaceRef = {
  readonly host: string;
  readonly machine: string;
  /** The boot it was made in. */
  readonly bootId: string;
  readonly home: string;
  readonly root: string;
};

/** The words of `ref`, or null for what is none. */
export const readRef = (ref: Readonly<Record<string, string>>): PlaceRef | null => {
  const { host, machine, bootId, home, root } = ref;
  if (host === undefined || machine === undefined || bootId === undefined || home === undefined || root === undefined)
    return null;
  return { host, machine, bootId, home, root };
};

/** The ref of a new place. */
export const newRef = (host: Host, facts: HostFacts, root: string): PlaceRef => ({
  host: host.name,
  machine: facts.machine,
  bootId: facts.bootId,
  home: facts.home,
  root,
});

/**
 * The facts of the host, once it is certain that it is the machine of `ref`. Another one behind the same name says nothing
 * about what became of the first: `backend_unreachable`, like every failure to connect.
 */
export const sameMachine = async (host: Host, ref: Pick<PlaceRef, 'machine'>): Promise<HostFacts> => {
  const facts = await host.facts().catch((thrown: unknown) => {
    throw nobodyCanTell(thrown);
  });
  if (ref.machine === '' || facts.machine === '' || ref.machine === facts.machine) return facts;
  throw new OrreryError(
    'backend_unreachable',
    `The name ${host.name} leads to another machine than the one of this environment.`,
    {
      rule: 'What became of an environment can be said by its own machine alone.',
      fix: 'Let the name lead to the first machine again, or decide yourself: orrery doctor, then orrery settle.',
    },
  );
};

/** Whether the folder of an environment is there. Throws `backend_unreachable` when nobody can tell. */
export const isThere = async (host: Host, { root, home }: Pick<PlaceRef, 'root' | 'home'>): Promise<boolean> => {
  const { stdout } = await host.script(LOOK, [root, home]);
  const said = stdout.toString().trim();
  if (said === 'there' || said === 'gone') return said === 'there';
  throw unreachable(`the home directory ${home} is not there on ${host.name}`);
};

/** Ends what runs below `root` and removes it with the folders above that are empty then. */
export const removeRoot = async (host: Host, { root, home }: Pick<PlaceRef, 'root' | 'home'>, keeper: string): Promise<void> => {
  const { exitCode, stderr } = await host.script(REMOVE, [root, keeper, environmentsOf(home), socketsOf(home)], {
    timeoutMs: REMOVE_MS,
  });
  if (exitCode === 0) return;
  throw new OrreryError(
    'backend_unavailable',
    `The environment at ${root} on ${host.name} could not be removed: ${stderr.trim().slice(-300)}`,
    {
      rule: 'What runs there is ended first; then its files go.',
      fix: `Look at it on the host, then: orrery doctor`,
    },
  );
};

const stateOf = async (host: Host, ref: PlaceRef): Promise<PlaceState> => {
  try {
    await sameMachine(host, ref);
    if (await isThere(host, ref)) return { state: 'running' };
    return { state: 'gone', why: `${ref.root} is not there on ${host.name}` };
  } catch (thrown) {
    return { state: 'unknown', why: toOrreryError(thrown).message };
  }
};

/** How the broker comes in: by the connection itself, by a relay, or by the first that the server allows. */
export type BrokerWay = 'auto' | 'forward' | 'relay';

/** The error of a server that forwards no sockets, where nothing else will do. */
export const refuseNoForward = (host: Host): OrreryError =>
  new OrreryError('backend_unavailable', `The host ${host.name} forwards no sockets.`, {
    rule: 'execution.options.ssh.broker is forward: the broker comes in by the connection itself and by nothing else.',
    fix: 'Set AllowTcpForwarding and AllowStreamLocalForwarding to yes in sshd_config there, or broker: auto here.',
  });

/** What a place is made of. `keeper` answers where a keeper program of this node lies on the host. */
export type PlaceParts = {
  readonly host: Host;
  readonly ref: PlaceRef;
  readonly facts: HostFacts;
  readonly keeper: () => Promise<string>;
  readonly broker: BrokerWay;
};

const waysOf = (host: Host, ref: PlaceRef, broker: BrokerWay): Pick<Place, 'forwardSocket'> => {
  if (broker === 'relay') return {};
  return {
    forwardSocket: async (inside, target) => {
      await sameMachine(host, ref);
      const forwarded = await forwardSocket(host, inside, target);
      if (forwarded === null && broker === 'forward') throw unreachable(refuseNoForward(host).message);
      return forwarded;
    },
  };
};

/** A place whose folder is there. */
export const createPlace = ({ host, ref, facts, keeper, broker }: PlaceParts): Place => ({
  ...waysOf(host, ref, broker),
  ref,
  identity: { host: host.name },
  root: ref.root,
  keeper: keeperOf(ref.root),
  owner: null,
  variables: variablesOf(facts),
  shared: {
    path: programsOf(ref.home),
    environments: environmentsOf(ref.home),
    writer: () => Promise.resolve({ exec: host.exec, keeper: keeperOf(ref.root), close: () => Promise.resolve() }),
  },
  mounted: [],
  exec: async (command) => {
    await sameMachine(host, ref);
    return host.exec(command).catch((thrown: unknown) => {
      throw nobodyCanTell(thrown);
    });
  },
  state: () => stateOf(host, ref),
  explain: async () => {
    const { bootId } = await sameMachine(host, ref);
    return bootId === ref.bootId ? null : `The host ${host.name} was restarted.`;
  },
  stats: () => measurePlace(host, ref.root),
  remove: async () => {
    await sameMachine(host, ref);
    await removeRoot(host, ref, await keeper());
  },
  // Connections belong to the host, and go by themselves when nobody uses them.
  detach: () => undefined,
});
