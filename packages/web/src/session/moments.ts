// Moments that a session can go back to, as people are told of them. Pure.

import type { CheckpointView } from '@orrery/protocol';

/** What goes back. */
export type What = 'both' | 'files' | 'conversation';

const names: Readonly<Record<What, string>> = {
  both: 'Files and conversation',
  files: 'The files',
  conversation: 'The conversation',
};

/** Which moment a checkpoint is. */
export const momentText = ({ kind, turn }: Pick<CheckpointView, 'kind' | 'turn'>): string =>
  kind === 'turn' ? `before turn ${turn ?? '?'}` : kind === 'asked' ? 'asked for' : 'before it was taken back';

/** What going there will do, said before. */
export const rewindWords = (moment: Pick<CheckpointView, 'kind' | 'turn' | 'conversation'>, what: What): string =>
  [
    `${names[what]} ${what === 'conversation' ? 'becomes what it was' : 'become what they were'}${moment.kind === 'turn' ? ` ${momentText(moment)}` : ' then'}.`,
    ...(what === 'files' || moment.conversation === 'native'
      ? []
      : ['Its program cannot go back: a new conversation is given a record of what is kept.']),
    'What is there now is saved first, as a checkpoint.',
  ].join(' ');

/** Where a session is after it went back. */
export const whereText = ({ kind, turn, id }: Pick<CheckpointView, 'kind' | 'turn' | 'id'>, what: What): string =>
  `${names[what]} ${what === 'conversation' ? 'is' : 'are'} as ${kind === 'turn' ? `before turn ${turn ?? '?'}` : `at ${id}`}.`;
