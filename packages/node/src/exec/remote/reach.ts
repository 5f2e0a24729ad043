// A port of a program in a place: one connection to the program's keeper becomes a pipe to it.
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import { askReach } from '../../keeper/reach.ts';
import { mustRun, unreachable } from './command.ts';
import { GREETING_MS } from './limits.ts';
import { patiently } from './patience.ts';
import type { Line } from './patience.ts';
import { dialRun } from './place-tools.ts';

const noListener = (port: number): OrreryError =>
  new OrreryError('not_found', `Nothing of the environment listens on port ${port}.`, {
    rule: 'A port leads to a program of the environment, and to no other.',
  });

/** Tries the network of one run; null when nothing of it listens there. */
export const reachRun = async (line: Line, dir: string, port: number): Promise<Duplex | null> => {
  const socket = await dialRun(line, dir);
  const late = setTimeout(() => socket.destroy(), GREETING_MS);
  try {
    const lost = (): Error => unreachable('the way to a port broke');
    const refusal = await askReach(socket, { port, identity: null, lost });
    if (refusal === null) return socket;
    socket.destroy();
    if (refusal === 'no-listener' || refusal === 'not-running') return null;
    throw new OrreryError(refusal === 'busy' ? 'busy' : 'internal', `The port ${port} cannot be reached: ${refusal}.`);
  } finally {
    clearTimeout(late);
  }
};

/**
 * A connection to a port of loopback as a program of this environment has it. Rejects with `not_found` when nothing of it
 * listens there. Only for places and programs whose loopback is nobody else's.
 */
export const reachPort = async (line: Line, port: number): Promise<Duplex> => {
  const script = 'ls -1 -- "$1"';
  const said = await patiently(line, () =>
    mustRun(line.place, ['sh', '-c', script, 'sh', line.layout.runs], { what: 'Looking for its programs' }),
  );
  for (const name of said
    .toString('utf8')
    .split('\n')
    .filter((one) => one !== '')) {
    // A run that ended meanwhile has no keeper that answers.
    const socket = await reachRun(line, `${line.layout.runs}/${name}`, port).catch((thrown: unknown) => {
      if (thrown instanceof OrreryError && thrown.code === 'backend_unreachable') return null;
      throw thrown;
    });
    if (socket !== null) return socket;
  }
  throw noListener(port);
};
