import { connect, requireOperations, type Connection } from './connect.ts';
import type { Change, CommandContext, CommandInput, CommandSpec, Mode } from './commands/command.ts';
import { nameOf } from './command-line.ts';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { pathsOf, type Paths } from './paths.ts';
import { newRequestId, receiptBook, type Receipt } from './receipts.ts';
import { screenOf } from './screen.ts';
import { inert, inertJson } from './inert.ts';
import type { World } from './world.ts';

/** What a command gathers while it runs; the envelope is made of it at the end. */
export type Held = { connection: Connection | null; receipt: Receipt | null; readonly warnings: string[] };

type Given = {
  readonly table: readonly CommandSpec[];
  readonly spec: CommandSpec;
  readonly input: CommandInput;
  readonly mode: Mode;
  readonly world: World;
  readonly held: Held;
};

/** Form of a request id (the API's). */
const REQUEST_ID = /^[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,199}$/;

/** Everything that a command may use. */
export const createContext = ({ table, spec, input, mode, world, held }: Given): CommandContext => {
  const noColor = input.flag('no-color');
  const side = screenOf(world.stderr, world.env, noColor);
  const paths = pathsOf(world, { data: input.text('data'), config: input.text('config') });
  const selection = { url: input.text('connection'), tokenFile: input.text('token-file') };
  const nodeArguments = nodeArgumentsOf(input, paths);
  const note = (text: string): void => {
    if (mode === 'human') world.stderr.write(`${text}\n`);
  };
  const hold = (connection: Connection): Connection => {
    held.connection = connection;
    requireOperations(connection, spec.operations ?? [], nameOf(spec));
    return connection;
  };
  const join = async (stop?: AbortSignal): Promise<Connection> =>
    held.connection ?? hold(await connect(world, paths, { ...selection, stop }));
  return {
    world,
    table,
    paths,
    input,
    mode,
    screen: screenOf(world.stdout, world.env, noColor),
    side,
    note,
    warn: (text) => {
      held.warnings.push(text);
      note(`${side.careful('!')} ${inert(text)}`);
    },
    data: ({ text, json }) => {
      if (mode === 'jsonl') world.stdout.write(`${inertJson(json)}\n`);
      if (mode === 'human' && text !== null) world.stdout.write(`${text}\n`);
    },
    connect: join,
    connectOrStart: async () => {
      try {
        return await join();
      } catch (thrown) {
        if (
          !(thrown instanceof OrreryError) ||
          thrown.code !== 'node_not_running' ||
          selection.url !== null ||
          world.env['ORRERY_URL'] !== undefined
        )
          throw thrown;
        if (input.flag('no-start')) throw thrown;
        note('  No node is running: one is started in the background (orrery down stops it).');
        await world.processes.startNode({ args: [...nodeArguments, '--detach'], logFile: paths.upLog });
        return join();
      }
    },
    change: changeOf({ spec, input, world, held, paths, join }),
    nodeArguments,
  };
};

/** `--data D --config F`, as the node's program reads them: always said, so that both mean the same places. */
const nodeArgumentsOf = (input: CommandInput, paths: Paths): string[] => [
  '--data',
  paths.data,
  ...(input.text('config') === null ? [] : ['--config', paths.configFile]),
];

type ChangeParts = {
  readonly spec: CommandSpec;
  readonly input: CommandInput;
  readonly world: World;
  readonly held: Held;
  readonly paths: Paths;
  readonly join: () => Promise<Connection>;
};

const changeOf = ({ spec, input, world, held, paths, join }: ChangeParts): Change => {
  const once = spec.changes === 'once';
  const given = once ? readRequestId(input, nameOf(spec)) : null;
  return async ({ intent, send, resources, authority }) => {
    const requestId = given ?? newRequestId(world);
    const book = receiptBook(paths.receipts, world.now);
    const action = nameOf(spec).replace(' ', '.');
    const receipt = await book.open({ requestId, action, authority: authority ?? (await join()).node.installationId, intent });
    held.receipt = receipt;
    try {
      const answer = await send(requestId);
      held.receipt = await book.settle(receipt, 'done', resources?.(answer) ?? []);
      return answer;
    } catch (thrown) {
      const error = toOrreryError(thrown);
      // An unknown outcome stays "sending": the receipt is what the person comes back with.
      if (error.code !== 'outcome_unknown') held.receipt = await book.settle(receipt, 'failed');
      throw error.code === 'outcome_unknown' && once ? withRequestId(error, requestId) : thrown;
    }
  };
};

const readRequestId = (input: CommandInput, name: string): string | null => {
  const given = input.text('request-id');
  if (given === null || REQUEST_ID.test(given)) return given;
  throw new OrreryError('invalid_input', 'The value of --request-id cannot be used.', {
    rule: 'Letters, digits and . _ : @ / + = - only, beginning with a letter or digit; at most 200.',
    fix: `orrery ${name} --request-id nightly-42`,
  });
};

const withRequestId = (error: OrreryError, requestId: string): OrreryError =>
  new OrreryError(error.code, error.message, {
    rule: error.rule ?? undefined,
    fix: `Repeat the same command with: --request-id ${requestId}`,
    details: { ...error.details, requestId },
    cause: error.cause,
  });
