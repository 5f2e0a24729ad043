import type { Answers, InteractionAnswer, InteractionView, PermissionMode } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import type { Command, CommandContext } from '../command.ts';
import { BY_RULE, valueOf, type Given } from './answer-value.ts';
import { answerTo } from './interactions.ts';

const words: Readonly<Record<string, InteractionAnswer['outcome']>> = {
  approve: 'approved',
  'approve-for-session': 'approved-for-session',
  deny: 'denied',
};

/** Answers from the command line, each by the kind of its question. */
const answersOf = (pairs: readonly string[], interaction: InteractionView): Answers => {
  const { questions } = interaction.ask;
  const said = new Map<string, string[]>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const key = at < 0 ? null : (questions.find((asked) => pair.startsWith(`${asked.key}=`))?.key ?? pair.slice(0, at));
    if (key === null)
      throw new OrreryError('invalid_input', `"${pair.slice(0, 100)}" answers no question.`, {
        rule: 'An answer is KEY=VALUE; the keys stand before the questions.',
        fix: `orrery session answer ${interaction.id} ${answerTo(interaction)}`,
      });
    said.set(key, [...(said.get(key) ?? []), pair.slice(key.length + 1)]);
  }
  return Object.fromEntries(
    [...said].map(([key, texts]) => {
      const asked = questions.find((one) => one.key === key);
      return [key, asked === undefined ? (texts[0] ?? '') : valueOf(asked, texts)];
    }),
  );
};

/** What was said on the command line; null: nothing. */
const givenOf = ({ input }: CommandContext, interaction: InteractionView): Given | null => {
  const word = input.argument('answer');
  const pairs = input.list('answer');
  const message = input.text('message') ?? undefined;
  const mode = (input.text('mode') ?? undefined) as Exclude<PermissionMode, 'plan'> | undefined;
  if (word !== null && pairs.length > 0)
    throw new OrreryError('invalid_input', `"${word}" and --answer do not go together.`, {
      rule: 'Questions are answered; what needs a permission is approved or denied.',
      fix: `orrery session answer ${interaction.id} ${answerTo(interaction)}`,
    });
  const more = { ...(message === undefined ? {} : { message }), ...(mode === undefined ? {} : { mode }) };
  if (pairs.length > 0) return { outcome: 'answered', answers: answersOf(pairs, interaction), ...more };
  return word === null ? null : { outcome: words[word] ?? 'denied', ...more };
};

const needsWord = (interaction: InteractionView): OrreryError =>
  new OrreryError('invalid_input', 'There is no answer.', {
    rule: 'On a terminal it is asked for; elsewhere it is approve, approve-for-session, deny, or --answer KEY=VALUE for each question.',
    fix: `orrery session answer ${interaction.id} ${answerTo(interaction)}`,
  });

/** `orrery session answer`. */
export const sessionAnswer: Command = async (context) => {
  const { input, mode, world } = context;
  const { client } = await context.connect();
  const id = input.argument('interaction') ?? '';
  const open = await client.call('interactionShow', { params: { id } });
  const mayAsk = mode === 'human' && world.stdin.isTTY && open.state === 'open';
  const said = givenOf(context, open) ?? (mayAsk ? await (await import('./ask-person.ts')).askPerson(context, open) : null);
  if (said === null) throw needsWord(open);
  if (said === BY_RULE) return (await import('../policy/propose.ts')).addByRule(context, open);
  const given = said;
  const body = { revision: input.number('revision') ?? open.revision, ...given };
  const interaction = await context.change({
    intent: { interaction: id, ...body },
    send: () => client.call('interactionAnswer', { params: { id }, body }),
    resources: (answer) => [answer.id],
  });
  return { result: { interaction }, text: `${inertLine(interaction.ask.title)}: ${interaction.outcome ?? ''}.` };
};
