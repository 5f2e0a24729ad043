import { runSelftest } from './run-selftest.ts';
import type { Command } from '../command.ts';

/** `orrery selftest leaks`. */
export const selftestLeaks: Command = (context) => runSelftest(context, 'leaks');
