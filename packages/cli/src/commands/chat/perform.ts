// Does what a chat wants done at the node, and says what came of it.

import type { SessionView, TurnView } from '@orrery/protocol';
import { toOrreryError } from '@orrery/protocol/errors';
import type { CommandContext } from '../command.ts';
import { inertLine } from '../../inert.ts';
import { agoText } from '../../wording.ts';
import { cutCells, visible } from './cells.ts';
import type { NodeLink } from './node-link.ts';
import { rememberPast } from './past-inputs.ts';
import { diffText, fork, goBack, momentLines } from './history.ts';
import type { Effect, Message } from './state.ts';
import { addRule, ruleLines } from './rule-lines.ts';
import { emptyTranscript, take, type Item } from './transcript.ts';

/** Events that are shown at the start, and that are read with one key. */
export const PAGE_EVENTS = 200;

/** How a chat ends. */
export type ChatEnd =
  | { readonly kind: 'left' }
  | { readonly kind: 'switch'; readonly session: SessionView }
  | { readonly kind: 'signal'; readonly signal: 'SIGINT' | 'SIGTERM' };

export type Performing = {
  readonly context: CommandContext;
  readonly link: NodeLink;
  readonly session: () => SessionView;
  readonly dispatch: (message: Message) => void;
  readonly refresh: () => void;
  readonly end: (end: ChatEnd) => void;
  readonly pastFile: string;
};

const notice = (level: 'info' | 'warning' | 'error', text: string): Item => ({ kind: 'notice', level, text });

/** What went wrong, in three lines. */
const failed = (thrown: unknown): Item => notice('error', toOrreryError(thrown).toLines().join('\n'));

const say = ({ dispatch }: Performing, ...items: readonly Item[]): void => dispatch({ kind: 'said', items });

/** Makes the one who performs: inputs are sent one behind the other, everything else as it comes. */
export const createPerform = (performing: Performing): ((effect: Effect) => void) => {
  let sending: Promise<void> = Promise.resolve();
  return (effect) => {
    if (effect.kind === 'send') {
      sending = sending.then(() => send(performing, effect));
      return;
    }
    void one(performing, effect).catch((thrown: unknown) => say(performing, failed(thrown)));
  };
};

const one = async (performing: Performing, effect: Exclude<Effect, { kind: 'send' }>): Promise<void> => {
  const { dispatch, refresh, end, pastFile, link } = performing;
  switch (effect.kind) {
    case 'refresh':
      return refresh();
    case 'leave':
      return end({ kind: 'left' });
    case 'remember':
      return rememberPast(pastFile, effect.text);
    case 'answer':
      return answer(performing, effect);
    case 'older':
      return older(performing, effect.before);
    case 'search':
      return dispatch({ kind: 'said', items: [{ kind: 'local', lines: await foundLines(performing, effect.words) }] });
    case 'sessions':
      return dispatch({ kind: 'said', items: [{ kind: 'local', lines: await sessionLines(performing) }] });
    case 'diff':
      return say(performing, { kind: 'local', lines: await diffText(performing, effect.file) });
    case 'rule':
      return showRule(performing, effect);
    case 'add-rule':
      return add(performing, effect);
    case 'moments':
      return say(performing, { kind: 'local', lines: await momentLines(performing) });
    case 'rewind':
      say(performing, ...(await goBack(performing, effect.to)));
      return refresh();
    case 'fork':
      return end({ kind: 'switch', session: await fork(performing, effect.at) });
    case 'switch':
      return end({ kind: 'switch', session: await link.client().call('sessionShow', { params: { id: effect.session } }) });
    default:
      await change(performing, effect);
      return refresh();
  }
};

const showRule = async (performing: Performing, effect: Extract<Effect, { kind: 'rule' }>): Promise<void> => {
  const { lines, rule } = await ruleLines(performing, effect);
  say(performing, { kind: 'local', lines: [...lines] });
  performing.dispatch({ kind: 'ruled', rule });
};

/** What is not added is asked again. */
const add = async (performing: Performing, effect: Extract<Effect, { kind: 'add-rule' }>): Promise<void> => {
  try {
    say(performing, await addRule(performing, effect));
  } catch (thrown) {
    say(performing, failed(thrown));
    performing.dispatch({ kind: 'unanswered' });
  }
  performing.refresh();
};

type Change = Extract<Effect, { kind: 'set' | 'interrupt' | 'close' | 'end' | 'reword' | 'move' | 'now' | 'remove' | 'decide' }>;

/** A change of the session or of an input, with its receipt. */
const change = async ({ context, link, session }: Performing, effect: Change): Promise<void> => {
  const { id } = session();
  const client = link.client();
  const send = (): Promise<{ readonly id: string }> => {
    switch (effect.kind) {
      case 'set':
        return client.call('sessionSet', { params: { id }, body: effect.set });
      case 'interrupt':
        return client.call('sessionInterrupt', { params: { id }, body: {} });
      case 'close':
        return client.call('sessionClose', { params: { id }, body: {} });
      case 'end':
        return client.call('sessionEnd', { params: { id }, body: {} });
      case 'reword':
        return client.call('turnSet', { params: { id, turn: effect.turn }, body: { text: effect.text } });
      case 'move':
        return client.call('turnSet', { params: { id, turn: effect.turn }, body: { position: effect.position } });
      case 'now':
        return client.call('turnSendNow', { params: { id, turn: effect.turn }, body: {} });
      case 'remove':
        return client.call('turnRemove', { params: { id, turn: effect.turn } });
      case 'decide':
        return client.call('turnDecide', { params: { id, turn: effect.turn }, body: { decision: effect.decision } });
    }
  };
  await context.change({ intent: { session: id, ...effect }, send, resources: (answered) => [answered.id] });
};

/** An input goes to the node under one id until the node has said that it has it, or why not. */
const send = async (performing: Performing, { sending }: Extract<Effect, { kind: 'send' }>): Promise<void> => {
  const { context, link, session, dispatch, refresh } = performing;
  const { id } = session();
  const { key: _, text, steer, ...order } = sending;
  const body = { text, kind: steer ? ('steer' as const) : ('prompt' as const), ...order };
  let turn: TurnView | null = null;
  try {
    turn = await context.change({
      intent: { session: id, ...body },
      send: (requestId) =>
        link.until((client) =>
          client.call('turnAdd', { params: { id }, body: { ...body, requestId }, idempotencyKey: requestId }),
        ),
      resources: (made) => [made.id],
    });
  } catch (thrown) {
    say(performing, failed(thrown), notice('info', 'What was written is not sent; key up has it again.'));
  }
  dispatch({ kind: 'sent', key: sending.key, turn });
  refresh();
};

/** An answer that lost says who won. */
const answer = async (performing: Performing, effect: Extract<Effect, { kind: 'answer' }>): Promise<void> => {
  const { context, link, dispatch, refresh } = performing;
  const { kind: _, interaction, ...body } = effect;
  const { outcome } = body;
  try {
    await context.change({
      intent: { interaction, ...body },
      send: () => link.until((client) => client.call('interactionAnswer', { params: { id: interaction }, body })),
      resources: (answered) => [answered.id],
    });
  } catch (thrown) {
    const error = toOrreryError(thrown);
    const now = await link
      .client()
      .call('interactionShow', { params: { id: interaction } })
      .catch(() => null);
    const mine = now?.outcome === outcome;
    if (now?.state === 'settled') {
      if (!mine)
        say(
          performing,
          notice('warning', `Your answer came too late: ${now.outcome ?? 'settled'}${now.by === null ? '' : ` by ${now.by}`}.`),
        );
    } else if (error.code === 'conflict') say(performing, notice('warning', 'What is asked has changed: read it again.'));
    else say(performing, failed(error));
    dispatch({ kind: 'unanswered' });
  }
  refresh();
};

/** The page before the first event that was shown. */
const older = async ({ link, session, dispatch }: Performing, before: number): Promise<void> => {
  if (before <= 1) return dispatch({ kind: 'said', items: [notice('info', 'There is nothing older.')] });
  const after = Math.max(0, before - 1 - PAGE_EVENTS);
  const query = { after, limit: before - 1 - after };
  const { items } = await link.client().call('sessionLog', { params: { id: session().id }, query });
  const shown: Item[] = [];
  let transcript = emptyTranscript(after);
  for (const event of items) {
    const taken = take(transcript, event);
    transcript = taken.transcript;
    shown.push(...taken.settled);
  }
  const line = (text: string): Item => ({ kind: 'local', lines: ['', text] });
  dispatch({
    kind: 'older',
    items: [line(`── events ${after + 1} to ${before - 1} ──`), ...shown, ...transcript.open, line('── up to here ──')],
    oldest: after + 1,
  });
};

/** Places of this conversation that say something, newest first. */
const foundLines = async ({ context, link, session }: Performing, q: string): Promise<string[]> => {
  const { items } = await link.client().call('sessionSearch', { query: { q, session: session().id, limit: 20 } });
  if (items.length === 0) return ['', '  Nothing here says that. Fewer words find more; word* finds beginnings.'];
  const { columns } = context.world.stdout;
  const line = ({ sequence, kind, at, snippet }: (typeof items)[number]): string[] => [
    context.screen.dim(
      `  event ${sequence} · ${kind === 'user' ? 'you' : kind === 'text' ? 'agent' : 'tool'} · ${agoText(at, context.world.now())}`,
    ),
    `    ${cutCells(
      snippet
        .map(({ text }) => visible(text).replace(/\s+/g, ' '))
        .join('')
        .trim(),
      columns - 4,
    )}`,
  ];
  return ['', ...items.flatMap(line)];
};

const sessionLines = async ({ context, link, session }: Performing): Promise<string[]> => {
  const { items } = await link.client().call('sessionList', { query: { limit: 20 } });
  const { columns } = context.world.stdout;
  return [
    '',
    ...items.map((one) => {
      const here = one.id === session().id ? '›' : ' ';
      const about = `${one.state} · ${inertLine(one.project.name)} · ${agoText(one.changedAt, context.world.now())}`;
      return cutCells(`${here} ${visible(one.name)}  ${about}`, columns);
    }),
    '  /sessions NAME goes to one.',
  ];
};
