import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import { placeIdOf } from '../../names.ts';
import type { Command } from '../command.ts';
import { openInBrowser } from '../open-link.ts';

/** Ports by the names that the project gave them; those of a task are not told here. */
const namedPorts = async ({ client }: Connection, id: string): Promise<readonly { name: string; port: number }[]> => {
  try {
    return (await client.call('environmentShow', { params: { id } })).ports;
  } catch (thrown) {
    if (toOrreryError(thrown).code === 'not_found') return [];
    throw thrown;
  }
};

const portOf = async (connection: Connection, id: string, given: string | null): Promise<number> => {
  const number = /^\d{1,5}$/.test(given ?? '') ? Number(given) : 0;
  if (number >= 1 && number <= 65_535) return number;
  const ports = await namedPorts(connection, id);
  const found = given === null ? (ports.length === 1 ? ports[0] : undefined) : ports.find(({ name }) => name === given);
  if (found !== undefined) return found.port;
  throw new OrreryError('invalid_input', given === null ? 'It is not said which port.' : 'There is no port of that name.', {
    rule:
      ports.length === 0
        ? 'Say the number of a port: this environment has none with a name.'
        : `Say a number from 1 to 65535, or one of ${ports.map(({ name }) => name).join(', ')}.`,
    fix: 'orrery env preview ENV 3000',
  });
};

/** `orrery env preview`. */
export const envPreview: Command = async (context) => {
  const connection = await context.connect();
  const id = await placeIdOf(connection, context.input.argument('environment') ?? '');
  const port = await portOf(connection, id, context.input.argument('port'));
  const preview = await connection.client.call('previewOpen', { params: { id, port: String(port) }, body: {} });
  if (preview.problem !== null) context.warn(`${preview.problem} The page tries again until one does.`);
  if (context.input.flag('open')) await openInBrowser(context, { link: preview.link, name: 'preview' });
  return {
    result: preview,
    text: preview.link,
    hints: [
      `  The link lets one browser in, once, within ten minutes. From then on: ${preview.origin}`,
      `  For another browser, repeat the command.`,
    ],
  };
};
