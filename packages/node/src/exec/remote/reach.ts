// A port of a program in a place: one connection to the program's keeper becomes a pipe to it.
import type { Duplex } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import { askReach } from '../../keeper/reach.ts';
import { mustRun, startInPlace, unreachable } from './command.ts';
import { GREETING_MS } from './limits.ts';
import { patiently } from './patience.ts';
import type { Line } from './patience.ts';
import { dialRun } from './place-tools.ts';

const noListener = (port: number): OrreryError =>
  new OrreryError('not_found', `Nothing of the environment listens on port ${port}.`, {
    rule: 'A port leads to a program of the environment, and to no other.',
    details: { port },
  });

/**
 * The pipe itself: its two directions end one by one. A view of a keeper is over with its first end, so it only asks
 * whether somebody listens; the program sees that as a connection which says nothing.
 */
const openPipe = async ({ place, layout }: Line, dir: string, port: number): Promise<Duplex> => {
  const argv = [layout.keeper, 'reach', dir, String(port)];
  const process = await startInPlace(place, { argv, stdin: 'open', timeoutMs: null });
  const { stdio } = process;
  stdio.once('close', () => process.close());
  void process.ended.then((ended) => {
    if ('lost' in ended) stdio.destroy(unreachable(ended.lost));
  });
  return stdio;
};

/** Tries the network of one run; null when nothing of it listens there. */
export const reachRun = async (line: Line, dir: string, port: number): Promise<Duplex | null> => {
  const socket = await dialRun(line, dir);
  const late = setTimeout(() => socket.destroy(), GREETING_MS);
  try {
    const lost = (): Error => unreachable('the way to a port broke');
    const refusal = await askReach(socket, { port, identity: null, lost });
    socket.destroy();
    if (refusal === null) return await openPipe(line, dir, port);
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
