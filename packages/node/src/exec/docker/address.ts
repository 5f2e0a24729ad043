// Where the engine listens.
import { OrreryError } from '@orrery/protocol/errors';

/** What the search looks at. */
export type AddressSearch = {
  readonly socket: string | null;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly uid: number | null;
  readonly exists: (path: string) => boolean;
};

const fromVariable = (host: string): string => {
  if (host.startsWith('unix:///')) return host.slice('unix://'.length);
  throw new OrreryError(
    'backend_unavailable',
    `DOCKER_HOST is ${host.replace(/\/\/[^/]*@/, '//•••@')}: only Unix sockets are used.`,
    {
      rule: 'Whoever reaches an engine is root on its machine, so no network port is trusted with it.',
      fix: 'Bring a remote engine here as a socket: ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock HOST',
    },
  );
};

/** The usual places, the engine of the whole machine first. */
export const usualSockets = ({ variables, uid }: Pick<AddressSearch, 'variables' | 'uid'>): string[] => {
  const own = variables.XDG_RUNTIME_DIR ?? (uid === null ? null : `/run/user/${uid}`);
  return [
    '/var/run/docker.sock',
    ...(own === null ? [] : [`${own}/docker.sock`, `${own}/podman/podman.sock`]),
    '/run/podman/podman.sock',
  ];
};

/**
 * The engine's socket: the operator's option, DOCKER_HOST, or the first of the usual places that is there. Throws
 * `backend_unavailable` with what was looked at.
 */
export const findSocket = (search: AddressSearch): string => {
  const host = search.variables.DOCKER_HOST ?? '';
  const named = search.socket ?? (host === '' ? null : fromVariable(host));
  const places = named === null ? usualSockets(search) : [named];
  const found = places.find(search.exists);
  if (found !== undefined) return found;
  throw new OrreryError('backend_unavailable', `No container engine listens at ${places.join(', ')}.`, {
    rule: 'The backend docker needs Docker or Podman.',
    fix: 'Start one (Debian: apt-get install docker.io; Podman: systemctl --user start podman.socket), or set execution.options.docker.socket.',
    details: { places },
  });
};
