import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OrreryError } from '@orrery/protocol/errors';
import { parse } from 'yaml';
import { createPriceTable, parsePrices, type Price, type PriceTable } from '../broker/index.ts';
import { scriptedProvider } from './scripted.ts';

/** The bundled model is played from a script and really costs nothing. */
const scriptedPrices = (model: string): Price => ({
  provider: scriptedProvider,
  model,
  from: null,
  rates: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  long: null,
});

/** The price table of the user's file above the built-in one. `file` null: `prices.yaml` beside the configuration when it is there. */
export const loadPrices = async (file: string | null, configDirectory: string): Promise<PriceTable> => {
  const path = file === null ? join(configDirectory, 'prices.yaml') : resolve(configDirectory, file);
  const text = await readFile(path, 'utf8').catch((thrown: NodeJS.ErrnoException) => {
    if (file === null && thrown.code === 'ENOENT') return null;
    throw new OrreryError('config_invalid', `The price file ${path} cannot be read.`, {
      fix: 'orrery config explain prices',
      cause: thrown,
    });
  });
  const table = createPriceTable(text === null ? [] : parsePrices(parse(text)));
  return { find: (call) => (call.provider === scriptedProvider ? scriptedPrices(call.model) : table.find(call)) };
};
