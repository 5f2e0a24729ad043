import type { Scope } from '@orrery/protocol';
import { durationText } from '../../wording.ts';
import type { Command } from '../command.ts';
import { openInBrowser } from '../open-link.ts';

/** `orrery open`: a link into the web client. */
export const openWeb: Command = async (context) => {
  const { client, url } = await context.connect();
  const scope = context.input.text('scope') as Scope | null;
  const { path, until, scope: given } = await client.call('loginLink', { body: scope === null ? {} : { scope } });
  const link = `${url}${path}`;
  if (!context.input.flag('print')) await openInBrowser(context, { link, name: 'open' });
  const left = durationText(Date.parse(until) - context.world.now());
  return {
    result: { link, scope: given, until },
    text: link,
    hints: [`  The link lets one browser in as ${given}, once, within ${left}. From then on: ${url}`],
  };
};
