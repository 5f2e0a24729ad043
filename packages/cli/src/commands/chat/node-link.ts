// The way to the node, found again when the node was started anew, maybe at another address.

import type { Client } from '@orrery/client';
import type { LiveText, OrreryEvent } from '@orrery/protocol';
import { toOrreryError, type OrreryError } from '@orrery/protocol/errors';
import { connect, type Connection } from '../../connect.ts';
import type { CommandContext } from '../command.ts';

const AGAIN_MS = 1_000;
/** After so long without a word a stream is opened anew, over a way that is looked for again. */
const AWAY_MS = 3_000;

export type NodeLink = {
  client(): Client;
  /** Does it until the node has answered; what it is refused with is thrown. For what may be asked twice. */
  until<Answer>(ask: (client: Client) => Promise<Answer>): Promise<Answer>;
  /** Events after a cursor until the signal ends; `onLost` is told when the node is away (with the reason) and back (null). */
  follow(from: Following): AsyncGenerator<OrreryEvent, void, undefined>;
  close(): void;
};

export type Following = {
  readonly session: string;
  readonly after: number;
  readonly signal: AbortSignal;
  readonly onLost: (lost: OrreryError | null) => void;
  /** Text while it is written; null: what was shown of it is void. */
  readonly onLive: (piece: LiveText | null) => void;
};

/** Whether the node may answer later. */
const isAway = ({ code }: OrreryError): boolean =>
  ['node_unreachable', 'node_not_running', 'outcome_unknown', 'deadline', 'starting', 'node_starting'].includes(code);

export const createNodeLink = ({ world, paths, input }: CommandContext, first: Connection, signal: AbortSignal): NodeLink => {
  let { client } = first;
  let own: Client | null = null;
  const selection = { url: input.text('connection'), tokenFile: input.text('token-file') };
  /** Whether the node answers, wherever it is now. */
  const find = async (): Promise<boolean> => {
    const found = await connect(world, paths, selection).catch(() => null);
    if (found === null) return false;
    if (found.node.installationId !== first.node.installationId) {
      found.client.close();
      return false;
    }
    own?.close();
    own = found.client;
    ({ client } = found);
    return true;
  };
  const until: NodeLink['until'] = async (ask) => {
    for (;;) {
      try {
        return await ask(client);
      } catch (thrown) {
        const error = toOrreryError(thrown);
        if (!isAway(error) || signal.aborted) throw error;
        await world.sleep(AGAIN_MS);
        await find();
      }
    }
  };
  async function* follow({
    session,
    after,
    signal: stop,
    onLost,
    onLive,
  }: Following): AsyncGenerator<OrreryEvent, void, undefined> {
    let cursor = after;
    while (!stop.aborted) {
      try {
        const options = { after: cursor, signal: stop, awayMs: AWAY_MS, onConnection: onLost, onLive };
        for await (const event of client.sessionEvents(session, options)) {
          cursor = event.sequence ?? cursor;
          yield event;
        }
        return;
      } catch (thrown) {
        const error = toOrreryError(thrown);
        if (!isAway(error) && error.code !== 'internal') throw error;
        onLost(error);
        await world.sleep(AGAIN_MS);
        if (await find()) onLost(null);
      }
    }
  }
  return { client: () => client, until, follow, close: () => own?.close() };
};
