import { expect, it } from 'vitest';
import type { Connection } from '../../connect.ts';
import type { CommandContext } from '../command.ts';
import { chooseSession } from './choose-session.ts';

/** A command line with these options, and what it asked the node for. */
const scene = (options: Readonly<Record<string, string>>, session: string | null = null) => {
  const asked: unknown[] = [];
  const context = {
    input: { text: (name: string) => options[name] ?? null, flag: () => false, argument: () => session },
    change: ({ send }: { send: (requestId: string) => unknown }) => send('r1'),
    note: () => undefined,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of it is used
  } as unknown as CommandContext;
  const call = async (name: string, { body }: { body: object }) => {
    asked.push([name, body]);
    return { name: 'fix-1', harness: 'claude' };
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of it is used
  const connection = { client: { call } } as unknown as Connection;
  return { asked, choose: () => chooseSession(context, connection) };
};

it('a new session is asked for with what the options say of its making, the image too', async () => {
  const { asked, choose } = scene({ env: 'fix', backend: 'docker', image: 'debian:12' });
  await choose();
  const body = { mode: 'ask', environment: 'fix', backend: 'docker', image: 'debian:12', requestId: 'r1' };
  expect(asked).toEqual([['sessionCreate', body]]);
});

it('a session that is there was made before, with an image or without', async () => {
  const { asked, choose } = scene({ image: 'debian:12' }, 'site-1');
  await expect(choose()).rejects.toMatchObject({ code: 'invalid_input', fix: 'orrery chat site-1' });
  expect(asked).toEqual([]);
});
