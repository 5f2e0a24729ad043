import { OrreryError } from '@orrery/protocol/errors';
import type { Command } from '../command.ts';
import { writeLinkFile } from '../open-link.ts';

/** `orrery desktop`: the web client in a window of its own. */
export const desktop: Command = async (context) => {
  const { client, url } = await context.connect();
  const { path } = await client.call('loginLink', { body: {} });
  const file = await writeLinkFile(context, { link: `${url}${path}`, name: 'desktop' });
  const program = await context.world.processes.window(file);
  if (program === null)
    throw new OrreryError('unsupported', 'No browser with windows of their own is installed here.', {
      rule: 'Chromium, Chrome, Edge or Brave is looked for in PATH; in any browser the client can be installed by its own menu.',
      fix: 'orrery open',
    });
  return { result: { program, url }, text: `✓ The client opens in ${program}.`, hints: [`  From then on: ${url}`] };
};
