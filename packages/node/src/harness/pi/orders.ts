// What Pi is told of an input, and what it can do in a session.

import type { SessionCommand } from '../dialogue.ts';
import type { SessionCapabilities } from '../harness.ts';
import { saidText } from '../said.ts';

/** Words with a leading slash are no command; a command is given as it is. */
export const promptLine = ({ turn, text, action = 'say', images = [] }: Extract<SessionCommand, { kind: 'prompt' }>) => ({
  ...{ id: `prompt:${turn}`, type: 'prompt', message: action === 'say' ? saidText(text) : text },
  ...(images.length === 0
    ? {}
    : { images: images.map(({ mediaType, base64 }) => ({ type: 'image', data: base64, mimeType: mediaType })) }),
});

/** What it can do in a session. */
export const piAbilities: SessionCapabilities = {
  steer: true,
  approvals: false,
  questions: false,
  modes: ['all'],
  commands: true,
  models: true,
  fork: 'native',
  rewind: 'native',
  effort: true,
  images: true,
  files: true,
  plans: false,
  context: true,
  compaction: true,
  subAgents: false,
  backgroundTasks: false,
  toolGate: 'none',
  missing: {
    approvals: 'It asks nothing: each call runs within the walls of its environment.',
    questions: 'It asks nothing.',
    plans: 'It keeps no list of what it is going to do.',
    subAgents: 'It has none.',
    backgroundTasks: 'It runs nothing beside the turn.',
  },
};
