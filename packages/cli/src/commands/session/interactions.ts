import type { InteractionAnswer, InteractionView } from '@orrery/protocol';
import { inert, inertLine } from '../../inert.ts';
import type { Screen } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';

const answers: Readonly<Record<string, InteractionAnswer['outcome']>> = {
  approve: 'approved',
  'approve-for-session': 'approved-for-session',
  deny: 'denied',
  say: 'answered',
};

/** Characters of what is asked that are shown in a list. */
const SHOWN_CHARS = 2_000;

/** The word with which it is mostly answered. */
export const answerTo = ({ ask }: Pick<InteractionView, 'ask'>): string =>
  ask.outcomes.includes('answered') ? 'say' : 'approve';

/** What is asked, whole enough to decide. */
export const askText = (
  screen: Screen,
  { id, ask, sessionName, createdAt, deadlineAt }: InteractionView,
  nowMs: number,
): string => {
  const exact = ask.command ?? (ask.paths.length > 0 ? ask.paths.join('\n') : ask.detail.slice(0, SHOWN_CHARS));
  return [
    `${screen.careful('!')} ${inertLine(sessionName)} asks: ${inertLine(ask.title)}  ${screen.dim(agoText(createdAt, nowMs))}`,
    ...inert(exact)
      .split('\n')
      .map((line) => `    ${line}`),
    ...(ask.choices.length === 0 ? [] : [`    ${screen.dim(`choices: ${ask.choices.map(inertLine).join(' · ')}`)}`]),
    `    ${screen.dim(deadlineAt === null ? 'it waits as long as it takes' : `not answered by ${deadlineAt}, it does not happen`)}`,
    `    orrery session answer ${id} ${answerTo({ ask })}`,
  ].join('\n');
};

/** `orrery session interactions`. */
export const sessionInteractions: Command = async ({ connect, input, screen, world }) => {
  const { client } = await connect();
  const session = input.argument('session') ?? undefined;
  const { items } = await client.call('interactionList', { query: session === undefined ? {} : { session } });
  const text = items.length === 0 ? 'Nothing waits for you.' : items.map((item) => askText(screen, item, world.now())).join('\n');
  return { result: { items }, text };
};

/** `orrery session answer`. */
export const sessionAnswer: Command = async (context) => {
  const { input } = context;
  const { client } = await context.connect();
  const id = input.argument('interaction') ?? '';
  const revision = input.number('revision') ?? (await client.call('interactionShow', { params: { id } })).revision;
  const outcome = answers[input.argument('answer') ?? ''] ?? 'denied';
  const message = input.text('message') ?? undefined;
  const body = { revision, outcome, ...(message === undefined ? {} : { message }) };
  const interaction = await context.change({
    intent: { interaction: id, ...body },
    send: () => client.call('interactionAnswer', { params: { id }, body }),
    resources: (answer) => [answer.id],
  });
  return { result: { interaction }, text: `${inertLine(interaction.ask.title)}: ${interaction.outcome ?? ''}.` };
};
