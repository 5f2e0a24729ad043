import { version } from '@orrery/protocol/version';
import type { Command } from '../command.ts';

/** `orrery version --json`; without options `main.ts` answers faster. */
export const versionCommand: Command = async () => ({ result: { version }, text: version });
