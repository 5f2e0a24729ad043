import { claudeHarness } from '../src/harness/claude/index.ts';
import type { Harness } from '../src/harness/harness.ts';
import { lineHarness } from './run-parts.ts';

/** The harness of these tests: Claude Code's dialogue, without its program. */
export const harnessOf = (place: {
  readonly restMs: number;
  readonly steers: 'taken' | 'refused' | 'refused-late';
  readonly forks: boolean;
}): Harness => ({
  ...lineHarness,
  id: 'talker',
  conversations: claudeHarness.conversations,
  session: {
    ...claudeHarness.session!,
    capabilities: { ...claudeHarness.session!.capabilities, fork: place.forks ? 'native' : 'record' },
    launch: () => ({ command: 'talk', args: [], env: {}, homeFiles: {}, programPaths: [] }),
    takesUpFrom: (begunMs) => begunMs + place.restMs,
    dialogue: (from) => {
      const dialogue = claudeHarness.session!.dialogue(from);
      return {
        ...dialogue,
        tell: (command) => {
          if (command.kind !== 'steer' || place.steers === 'taken') return dialogue.tell(command);
          const steered = { kind: 'steered', key: command.key, refused: 'No turn runs.' } as const;
          const late = place.steers === 'refused-late' ? [steered] : [];
          return { events: [], facts: [...late, { ...steered, untaken: true }], frames: [], live: [] };
        },
      };
    },
  },
});
