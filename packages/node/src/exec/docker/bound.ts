// Whether what a container has of this machine is this machine's: an engine may be somewhere else behind its socket.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { OrreryError } from '@orrery/protocol/errors';
import type { Place, PlaceSpec } from '../remote/place.ts';

const LOOK_MS = 60_000;

/** Engines refuse to mount what is not there, as protected paths that a checkout has not. */
export const mountableHere = (spec: PlaceSpec): PlaceSpec => ({
  ...spec,
  mountable: spec.mountable.filter(({ local }) => existsSync(local)),
});

const elsewhere = (path: string): OrreryError =>
  new OrreryError('backend_unavailable', `The container does not see ${path} of this machine as it is.`, {
    rule: 'With workspace: bind programs work in directories of this machine. An engine on another one would mount its own.',
    fix: 'Set execution.options.docker.workspace to copy, or use an engine of this machine.',
  });

const notWritable = (path: string, { uid, gid }: { readonly uid: number; readonly gid: number }): OrreryError =>
  new OrreryError('backend_unavailable', `Programs in the container may not write into ${path}.`, {
    rule: 'With workspace: bind the user inside must own the directories of this machine that it works in.',
    fix: `Set execution.options.docker.user to "${uid}:${gid}", or workspace to copy.`,
  });

/** Says what is in the first path, or that the second is closed to who asks. */
const LOOK = 'if [ -d "$2" ] && ! { [ -w "$2" ] && [ -x "$2" ]; }; then echo closed; else cat "$1"; fi';

/** Writes a word into a directory of the environment, and has it read inside. Throws `backend_unavailable` when another one is there, or it cannot be written. */
export const proveBound = async (place: Place, { mountable }: PlaceSpec): Promise<void> => {
  // The last of them is the directory of temporary files: nothing of it is a result, whenever the node dies.
  const directory = mountable
    .filter(({ readOnly }) => !readOnly)
    .findLast(({ local }) => place.mounted.some((one) => one.local === local));
  if (directory === undefined) return;
  const word = randomUUID();
  const path = join(directory.local, `.orrery-${word}`);
  await writeFile(path, word, { mode: 0o644, flag: 'wx' });
  try {
    const looking = await place.exec({ argv: ['sh', '-c', LOOK, 'sh', path, directory.local], timeoutMs: LOOK_MS });
    const said = await text(looking.stdio);
    await looking.ended;
    if (said.trim() === 'closed') throw notWritable(directory.local, await stat(directory.local));
    if (said !== word) throw elsewhere(directory.local);
  } finally {
    await rm(path, { force: true });
  }
};
