// Trees of this machine as archives and lists, by the keeper program: the same program does the other half in a place,
// and it takes an archive from there without believing anything in it.
import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { OrreryError } from '@orrery/protocol/errors';
import type { Spawner, StartedCommand } from '../kernel/spawner.ts';
import { TREE_LIST_BYTES, TREE_STDERR_BYTES } from './limits.ts';

/** What works on trees of this machine. Paths are absolute; lists of paths are separated by NUL bytes. */
export type LocalTrees = {
  /** The list of a tree without what is skipped (paths below it). */
  list(dir: string, skip: readonly string[]): Promise<Buffer>;
  /** An archive of the tree, or of some paths of it. `done` rejects when it is not whole: the archive must not be used then. */
  pack(dir: string, paths?: Uint8Array): { readonly archive: Readable; readonly done: Promise<void> };
  /** Puts an archive into a tree. Rejects when it is not whole, or would lead out of it. */
  unpack(dir: string, archive: Readable): Promise<void>;
  /** Takes subtrees away; one that is not there is fine. */
  remove(dir: string, paths: Uint8Array): Promise<void>;
};

const failed = (what: string, stderr: string): OrreryError =>
  new OrreryError(
    /No space left|ENOSPC/.test(stderr) ? 'disk_full' : 'internal',
    `${what} failed: ${stderr.trim().split('\n').at(-1) ?? 'no reason given'}`,
    { rule: 'What is brought to a place and back is brought whole or not at all.' },
  );

const watchErrors = (command: StartedCommand): (() => string) => {
  let stderr = '';
  command.stderr?.on('data', (bytes: Buffer) => (stderr = (stderr + bytes.toString('utf8')).slice(-TREE_STDERR_BYTES)));
  return () => stderr;
};

const finished = async (command: StartedCommand, what: string, stderr: () => string): Promise<void> => {
  const ending = await command.ended;
  if (ending.kind === 'lost') throw ending.cause;
  if (ending.kind === 'not_started') throw failed(what, ending.cause.message);
  if (ending.code !== 0) throw failed(what, stderr() === '' ? `exit code ${ending.code ?? 'none'}` : stderr());
};

/** Works on trees by `binary` (asked when it is needed). */
export const createLocalTrees = ({
  binary,
  spawner,
}: {
  readonly binary: () => string;
  readonly spawner: Spawner;
}): LocalTrees => {
  const start = (args: readonly string[], input: boolean): StartedCommand =>
    spawner.start({ program: binary(), args, cwd: '/', environment: {}, input, stderr: true });
  return {
    list: async (dir, skip) => {
      const command = start(['list', dir, ...skip.flatMap((path) => ['--skip', path])], false);
      const stderr = watchErrors(command);
      const parts: Buffer[] = [];
      let size = 0;
      for await (const bytes of command.stdout as AsyncIterable<Buffer>) {
        parts.push(bytes);
        size += bytes.length;
        if (size > TREE_LIST_BYTES) {
          command.endGroup();
          throw new OrreryError('input_too_large', `The list of ${dir} is longer than ${TREE_LIST_BYTES} bytes.`);
        }
      }
      await finished(command, `Listing ${dir}`, stderr);
      return Buffer.concat(parts);
    },
    pack: (dir, paths) => {
      const command = start(paths === undefined ? ['pack', dir] : ['pack', dir, '--from-stdin'], paths !== undefined);
      command.stdin?.on('error', () => undefined);
      command.stdin?.end(paths);
      // Read from the first moment: what a command wrote is dropped at its end when nobody has begun to read it.
      const archive = command.stdout.pipe(new PassThrough());
      return { archive, done: finished(command, `Packing ${dir}`, watchErrors(command)) };
    },
    unpack: async (dir, archive) => {
      const command = start(['unpack', dir], true);
      const stderr = watchErrors(command);
      const broken = Promise.withResolvers<never>();
      broken.promise.catch(() => undefined);
      archive.once('error', (thrown: Error) => {
        command.endGroup();
        broken.reject(thrown);
      });
      command.stdin?.on('error', () => archive.resume());
      command.stdout.resume();
      if (command.stdin !== null) archive.pipe(command.stdin);
      await Promise.race([finished(command, `Unpacking into ${dir}`, stderr), broken.promise]);
    },
    remove: async (dir, paths) => {
      const command = start(['remove', dir, '--from-stdin'], true);
      const stderr = watchErrors(command);
      command.stdin?.on('error', () => undefined);
      command.stdin?.end(paths);
      command.stdout.resume();
      await finished(command, `Taking away from ${dir}`, stderr);
    },
  };
};
