import type { SessionHandOver } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import { tableText } from '../../screen.ts';
import { momentText, REWIND_PATIENCE_MS, whereText } from '../../moments.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';
import { promptOf } from './start.ts';

/** `orrery session checkpoints`. */
export const sessionCheckpoints: Command = async ({ connect, input, screen, world }) => {
  const { client } = await connect();
  const { id, name } = await client.call('sessionShow', { params: { id: input.argument('session') ?? '' } });
  const page = await client.call('sessionCheckpoints', { params: { id } });
  if (page.items.length === 0)
    return { result: page, text: `Nothing is saved yet; it is before each turn: orrery session send ${name} "…"` };
  return {
    result: page,
    text: tableText(
      screen,
      ['  moment', 'checkpoint', 'conversation', 'commit', 'made'],
      page.items.map((one) => [
        `  ${momentText(one)}`,
        one.id,
        one.conversation,
        one.sha.slice(0, 10),
        agoText(one.createdAt, world.now()),
      ]),
    ),
    hints: [`  orrery session rewind ${name} --to ${page.items[0]?.id ?? ''}`],
  };
};

/** `orrery session checkpoint`. */
export const sessionCheckpoint: Command = async (context) => {
  const { client } = await context.connect();
  const id = context.input.argument('session') ?? '';
  const checkpoint = await context.change({
    intent: { session: id },
    send: () => client.call('sessionCheckpoint', { params: { id }, body: {}, timeoutMs: REWIND_PATIENCE_MS }),
    resources: (answer) => [answer.id],
  });
  return {
    result: { checkpoint },
    text: `${context.screen.good('✓')} Saved as ${checkpoint.id}.`,
    hints: checkpoint.notes.map((note) => `  ${inertLine(note)}`),
  };
};

/** `orrery session rewind`. */
export const sessionRewind: Command = async (context) => {
  const { input, screen } = context;
  const id = input.argument('session') ?? '';
  const to = input.text('to');
  const [files, conversation] = [input.flag('files-only'), input.flag('conversation-only')];
  if (to === null || (files && conversation))
    throw new OrreryError('invalid_input', to === null ? 'It needs to know where to go back to.' : 'Nothing would go back.', {
      rule: 'The number of a turn, or the id of a checkpoint; at most one of --files-only and --conversation-only.',
      fix: `orrery session checkpoints ${id}`,
    });
  const what = files ? 'files' : conversation ? 'conversation' : 'both';
  const { client } = await context.connect();
  const rewound = await context.change({
    intent: { session: id, to, what },
    send: () => client.call('sessionRewind', { params: { id }, body: { to, what }, timeoutMs: REWIND_PATIENCE_MS }),
    resources: ({ session, before }) => [session.id, before.id],
  });
  const { session, before, saved, replaced, checkpoint } = rewound;
  const gone = { both: 'Files and conversation', files: 'The files', conversation: 'The conversation' }[what];
  return {
    result: rewound,
    text: [
      `${screen.good('✓')} ${gone} of ${inertLine(session.name)} ${what === 'both' || files ? 'are' : 'is'} as ${whereText(checkpoint)}.`,
      ...(replaced ? ['  Its program cannot go back: it begins a new conversation with a record of what is kept.'] : []),
      ...saved.map((ref) => `  What nothing else had is saved as ${inertLine(ref)}.`),
    ].join('\n'),
    hints: [`  Take it back: orrery session rewind ${session.name} --to ${before.id}`],
  };
};

/** `orrery session hand-over`. */
export const sessionHandOver: Command = async (context) => {
  const { input, screen } = context;
  const id = input.argument('session') ?? '';
  const harness = input.text('harness');
  if (harness === null)
    throw new OrreryError('invalid_input', 'It needs to know which program goes on.', {
      rule: 'Every installed harness that holds conversations can.',
      fix: 'orrery harness list',
    });
  const wish = ['model', 'effort', 'mode', 'name'].flatMap((name) => {
    const value = input.text(name);
    return value === null ? [] : [[name, value] as const];
  });
  const prompt = await promptOf(context);
  const body = {
    harness,
    ...(Object.fromEntries(wish) as Omit<SessionHandOver, 'harness'>),
    ...(prompt === undefined ? {} : { prompt }),
  };
  const { client } = await context.connect();
  const session = await context.change({
    intent: { session: id, ...body },
    send: (requestId) =>
      client.call('sessionHandOver', {
        params: { id },
        body: { ...body, requestId },
        idempotencyKey: requestId,
        timeoutMs: REWIND_PATIENCE_MS,
      }),
    resources: (made) => [made.id],
  });
  return {
    result: { session },
    text: `${screen.good('✓')} ${inertLine(session.name)} goes on with ${inertLine(session.harness)}, as ${session.id}.`,
    hints: [`  orrery session send ${inertLine(session.name)} "…"`],
  };
};
