import type { Client } from '@orrery/client';
import { sh } from './commands.ts';
import { bodiesOf, eventsOf, waitFor } from './wait.ts';

/** A full screen of a command, and where to look at it. */
export const screenOn = (client: () => Client) => async (script: string, backend: string) => {
  const body = { prompt: '', interactive: true, harness: 'command', command: sh(script), backend };
  const { id } = await client().call('taskAdd', { body });
  const opened = await waitFor(
    'the screen',
    async () => bodiesOf(await eventsOf(client(), id), 'terminal.opened').at(-1) ?? null,
    240_000,
  );
  const at = { environment: opened.environmentId, terminal: opened.terminal };
  const view = async () =>
    (await client().call('terminalList', { params: { id: at.environment } })).items.find((one) => one.id === at.terminal) ?? null;
  await waitFor('the terminal', () => view().catch(() => null), 240_000);
  return { id, at, view };
};
