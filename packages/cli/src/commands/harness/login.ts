import { LOGIN_TOKEN_CHARS, type HarnessLoginView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import { pick } from '../../names.ts';
import type { Command, CommandContext } from '../command.ts';

/** How often a login that waits is looked at. */
const LOOK_EVERY_MS = 1_000;

/** What the calls of a harness are paid by, in words. */
export const paidText = (paidBy: HarnessLoginView['paidBy'], account: string | null = null): string =>
  ({
    login: account ?? 'a login',
    key: 'a key',
    nothing: 'nothing yet',
    model: "the key of its model's provider",
    own: 'its own login',
    nobody: '-',
  })[paidBy];

const paysText = ({ paidBy, account }: Pick<HarnessLoginView, 'paidBy' | 'account'>): string =>
  paidBy === 'nothing' ? 'nothing pays its calls yet' : `its calls are paid by ${paidText(paidBy, account)}`;

const idOf = async (context: CommandContext): Promise<string> => {
  const { client } = await context.connect();
  const { items } = await client.call('harnessList');
  const { id } = pick(items, context.input.argument('harness') ?? '', {
    of: (one) => [one.id],
    noun: 'harness',
    fix: 'orrery harness list',
  });
  return id;
};

/** `orrery harness login`. */
export const harnessLogin: Command = async (context) => {
  const id = await idOf(context);
  const { client } = await context.connect();
  const before = await client.call('harnessLoginShow', { params: { id } });
  const token = before.ways.includes('token') ? await readToken(context, before) : null;
  const begun = await context.change({
    // A token is no part of what is remembered of this command.
    intent: { id },
    send: (requestId) =>
      client.call('harnessLogin', {
        params: { id },
        body: { requestId, ...(token === null ? {} : { token }) },
        idempotencyKey: requestId,
        timeoutMs: 90_000,
      }),
    resources: () => [id],
  });
  if (begun.state === 'waiting' && context.input.flag('no-wait')) return begunOnly(begun);
  const ended = begun.state === 'waiting' ? await waitFor(context, begun) : begun;
  if (ended.state === 'kept') return kept(context, ended);
  throw new OrreryError('login_failed', ended.problem ?? `The login of ${id} was ended.`, {
    rule: 'A person goes to the address that is shown, logs in there and types the code.',
    fix: `orrery harness login ${id}`,
  });
};

const begunOnly = (view: HarnessLoginView) => ({
  result: view,
  text: `${inertLine(view.url ?? '')}  ${inertLine(view.code ?? '')}`,
  hints: [`  orrery harness login ${view.harness}     # waits until the code is typed there`],
});

const kept = (context: CommandContext, view: HarnessLoginView) => ({
  result: view,
  text: `${context.screen.good('✓')} ${view.harness} is logged in${view.who === null ? '' : ` as ${inertLine(view.who)}`}; ${paysText(view)}`,
  hints: [
    ...(view.paidBy === 'login' ? [] : [`  orrery config explain logins     # says why the login is not used`]),
    `  orrery run --harness ${view.harness} "fix the failing test"`,
  ],
});

/** The token that its program printed: asked for without echo, or from standard input; never an argument. */
const readToken = async ({ world, note }: CommandContext, { harness, account, prints }: HarnessLoginView): Promise<string> => {
  if (world.stdin.isTTY) {
    note(
      `  The token of ${account ?? harness} is printed by its own program; in another terminal, on any machine with a browser:`,
    );
    note(`  ${prints ?? `orrery harness install ${harness}     # first; then this command says how`}`);
  }
  const text = world.stdin.isTTY ? await world.stdin.readHidden('Token (not shown): ') : await world.stdin.read();
  const token = text.trim();
  if (token !== '' && token.length <= LOGIN_TOKEN_CHARS) return token;
  throw new OrreryError(
    token === '' ? 'empty_input' : 'input_too_large',
    `The token is ${token === '' ? 'empty' : 'too long'}.`,
    {
      rule: `It comes from standard input and has at most ${LOGIN_TOKEN_CHARS} characters.`,
      fix: `orrery harness login ${harness} < FILE`,
    },
  );
};

/** Shows where a person is to go, and waits until it is done there. Ctrl-C ends the login, too. */
const waitFor = async (context: CommandContext, begun: HarnessLoginView): Promise<HarnessLoginView> => {
  const { world, note } = context;
  const { client } = await context.connect();
  const { harness: id } = begun;
  note(`  Open this address on any device and log in to ${begun.account ?? id}:`);
  note(`  ${inertLine(begun.url ?? '')}`);
  note(`  and type this code there: ${context.side.good(inertLine(begun.code ?? ''))}`);
  note('  Type it only when you began this login yourself. Waiting; Ctrl-C ends it.');
  context.data({ text: null, json: { kind: 'login.waiting', url: begun.url, code: begun.code, waitsUntil: begun.waitsUntil } });
  let stopped = false;
  const listening = world.onStop(() => (stopped = true));
  try {
    for (;;) {
      const view = await client.call('harnessLoginShow', { params: { id } });
      if (view.state !== 'waiting') return view;
      if (stopped) return await client.call('harnessLogout', { params: { id }, body: {} });
      await world.sleep(LOOK_EVERY_MS);
    }
  } finally {
    listening();
  }
};

/** `orrery harness logout`. */
export const harnessLogout: Command = async (context) => {
  const id = await idOf(context);
  const { client } = await context.connect();
  const view = await context.change({
    intent: { id },
    send: (requestId) => client.call('harnessLogout', { params: { id }, body: { requestId }, idempotencyKey: requestId }),
    resources: () => [id],
  });
  return {
    result: view,
    text: `${context.screen.good('✓')} The login of ${id} is forgotten; ${paysText(view)}`,
    hints: ['  The account itself knows of the login until it is ended there, too.'],
  };
};
