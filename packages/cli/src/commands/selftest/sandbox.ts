import { runSelftest } from './run-selftest.ts';
import type { Command } from '../command.ts';

/** `orrery selftest sandbox`. */
export const selftestSandbox: Command = (context) => runSelftest(context, 'sandbox');
