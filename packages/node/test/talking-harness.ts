import { claudeHarness } from '../src/harness/claude/index.ts';
import type { Harness } from '../src/harness/harness.ts';
import { lineHarness } from './run-parts.ts';

/** The harness of these tests: Claude Code's dialogue, without its program. */
export const harnessOf = (place: { readonly restMs: number }): Harness => ({
  ...lineHarness,
  id: 'talker',
  session: {
    ...claudeHarness.session!,
    launch: () => ({ command: 'talk', args: [], env: {}, homeFiles: {}, programPaths: [] }),
    takesUpFrom: (begunMs) => begunMs + place.restMs,
  },
});
