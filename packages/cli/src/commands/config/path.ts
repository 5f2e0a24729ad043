import { factsText } from '../../screen.ts';
import type { Command } from '../command.ts';

/** `orrery config path`: works without a node. */
export const configPath: Command = async ({ paths, screen }) => ({
  result: {
    config: paths.configFile,
    data: paths.data,
    descriptor: paths.descriptor,
    receipts: paths.receipts,
    upLog: paths.upLog,
  },
  text: factsText(screen, [
    ['configuration', paths.configFile],
    ['data', paths.data],
    ['running node', paths.descriptor],
    ['receipts', paths.receipts],
    ['log of up --detach', paths.upLog],
  ]),
});
