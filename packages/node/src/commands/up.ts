import { OrreryError } from '@orrery/protocol/errors';
import { bootNode } from '../boot.ts';
import { FATAL_EXIT_CODE, installFatal } from '../kernel/fatal.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog, openLogFile } from '../kernel/log.ts';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Harness } from '../harness/harness.ts';
import type { Verb } from './verb.ts';

/** Host and port of `--listen`: `4747`, `127.0.0.1:4747`, `[::1]:0`. */
const listenFlags = (listen: unknown): Record<string, unknown> => {
  if (typeof listen !== 'string') return {};
  const match = /^(?:(.+):)?(\d{1,5})$/.exec(listen);
  if (match === null)
    throw new OrreryError('invalid_input', `"${listen.slice(0, 100)}" is no address to listen on.`, {
      rule: 'It is PORT or HOST:PORT; port 0 takes any that is free.',
      fix: 'orrery up --listen 127.0.0.1:0',
    });
  return {
    'listen.port': Number(match[2]),
    ...(match[1] === undefined ? {} : { 'listen.host': match[1].replace(/^\[(.*)\]$/, '$1') }),
  };
};

/**
 * `up`: runs a node until it is told to stop. SIGTERM and SIGINT let running tasks end; a second one ends the node at
 * once, and programs run on under their keepers.
 */
export const up: Verb = (given) => upWith(given);

/** The same with other adapters than the built-in ones. */
export const upWith = async ({ paths, values }: Parameters<Verb>[0], harnesses?: readonly Harness[]): ReturnType<Verb> => {
  mkdirSync(dirname(paths.log), { recursive: true, mode: 0o700 });
  installFatal({ log: createLog({ sink: openLogFile({ path: paths.log }), clock: systemClock }) });
  const flags = { ...listenFlags(values['listen']) };
  const node = await bootNode({
    paths,
    env: process.env,
    flags,
    insecureBind: values['insecure-bind'] === true,
    dataNamed: typeof values['data'] === 'string' || (process.env['ORRERY_DATA'] ?? '') !== '',
    ...(harnesses === undefined ? {} : { harnesses }),
    onStoreLost: () => process.exit(FATAL_EXIT_CODE),
  });
  let asked = 0;
  const onSignal = (): void => void node.stop(++asked > 1);
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('SIGHUP', () => undefined);
  process.stdout.on('error', () => undefined);
  process.stdout.write(
    `${JSON.stringify({ ready: true, url: node.url, pid: process.pid, installationId: node.installationId })}\n`,
  );
  await node.ended;
  process.off('SIGTERM', onSignal);
  process.off('SIGINT', onSignal);
  return { stopped: true };
};
