import { lstatSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptedModel } from '@orrery/scripted-model';
import { demoMarker, demoScript } from '../commands/demo/script.ts';

/** Name of the bundled model's provider, and the beginning of its models' names. */
export const scriptedProvider = 'scripted';

/** Whether a model is the bundled scripted one. */
export const isScripted = (model: string | null | undefined): boolean => model?.startsWith(`${scriptedProvider}/`) ?? false;

/** The bundled scripted model of a node: begun when a task first needs it. */
export type Scripted = { readonly socket: string; start(): Promise<void>; close(): Promise<void> };

/** Makes it on a Unix socket of the data directory. Nothing runs before `start`. */
export const createScripted = (dataDirectory: string): Scripted => {
  const socket = join(dataDirectory, 'scripted.sock');
  let running: Promise<ScriptedModel> | null = null;
  return {
    socket,
    start: async () => {
      running ??= begin(socket);
      await running;
    },
    close: async () => (await running)?.close(),
  };
};

const begin = async (socket: string): Promise<ScriptedModel> => {
  // The data directory is locked for this node alone: a socket there is that of one that died.
  if (lstatSync(socket, { throwIfNoEntry: false })?.isSocket() === true) unlinkSync(socket);
  const { start } = await import('@orrery/scripted-model');
  return start({ socket, script: { steps: [], scripts: { [demoMarker]: demoScript } } });
};
