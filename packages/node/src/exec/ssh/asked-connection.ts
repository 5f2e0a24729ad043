import { unreachable } from '../remote/command.ts';
import type { StartedCommand } from '../../kernel/spawner.ts';

/** What sshd says when it must not, or cannot, listen there. */
const REFUSED = /forwarding (?:request )?failed|administratively prohibited/;

/** How a client ended that asked the connection for something: done, or refused by the server. Rejects when nobody could be asked. */
export const askedConnection = async (client: StartedCommand): Promise<boolean> => {
  let said = '';
  client.stdout.resume();
  client.stderr?.on('data', (bytes: Buffer) => (said += bytes.toString('utf8').slice(0, 4096)));
  const ending = await client.ended;
  if (ending.kind === 'exited' && ending.code === 0) return true;
  if (REFUSED.test(said)) return false;
  throw unreachable(said.trim().split('\n').at(-1) ?? 'the connection could not be asked');
};
