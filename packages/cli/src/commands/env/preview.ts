import { mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import type { Connection } from '../../connect.ts';
import { placeIdOf } from '../../names.ts';
import type { Command, CommandContext } from '../command.ts';

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

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

/** Opens the link by way of a file that nobody else can read: arguments of processes are seen by every user of the machine. */
const openInBrowser = async (context: CommandContext, link: string): Promise<void> => {
  const file = join(dirname(context.paths.upLog), 'preview.html');
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const page = await open(file, 'w', 0o600);
  try {
    await page.chmod(0o600);
    await page.writeFile(`<!doctype html><meta http-equiv="refresh" content="0;url=${escaped(link)}">\n`);
  } finally {
    await page.close();
  }
  if (!(await context.world.processes.browse(file))) context.warn('No browser could be started: open the link yourself.');
};

/** `orrery env preview`. */
export const envPreview: Command = async (context) => {
  const connection = await context.connect();
  const id = await placeIdOf(connection, context.input.argument('environment') ?? '');
  const port = await portOf(connection, id, context.input.argument('port'));
  const preview = await connection.client.call('previewOpen', { params: { id, port: String(port) }, body: {} });
  if (preview.problem !== null) context.warn(`${preview.problem} The page tries again until one does.`);
  if (context.input.flag('open')) await openInBrowser(context, preview.link);
  return {
    result: preview,
    text: preview.link,
    hints: [
      `  The link lets one browser in, once, within ten minutes. From then on: ${preview.origin}`,
      `  For another browser, repeat the command.`,
    ],
  };
};
