// The one command table. Help, man pages, completion, documentation and the dispatch are made of it.
import { acpCommands } from './acp/rows.ts';
import { agentCommands } from './agent/rows.ts';
import { backendCommands } from './backend/rows.ts';
import { chatCommands } from './chat/rows.ts';
import type { CommandSpec } from './command.ts';
import { configCommands } from './config/rows.ts';
import { insideCommands } from './env/inside-rows.ts';
import { egressCommands } from './egress/rows.ts';
import { envCommands } from './env/rows.ts';
import { harnessCommands } from './harness/rows.ts';
import { nodeCommands } from './node/rows.ts';
import { mcpCommands } from './mcp/rows.ts';
import { policyCommands } from './policy/rows.ts';
import { projectCommands } from './project/rows.ts';
import { queueCommands } from './queue/rows.ts';
import { salvageCommands } from './salvage/rows.ts';
import { secretCommands } from './secret/rows.ts';
import { selftestCommands } from './selftest/rows.ts';
import { sessionCommands } from './session/rows.ts';
import { shellCommands } from './shell/rows.ts';
import { runCommands } from './run/rows.ts';
import { taskCommands } from './task/rows.ts';
import { tokenCommands } from './token/rows.ts';

/** Every command, in the order of help. */
export const table: readonly CommandSpec[] = [
  ...runCommands,
  ...chatCommands,
  ...nodeCommands,
  ...taskCommands,
  ...projectCommands,
  ...envCommands,
  ...insideCommands,
  ...sessionCommands,
  ...acpCommands,
  ...mcpCommands,
  ...queueCommands,
  ...agentCommands,
  ...harnessCommands,
  ...backendCommands,
  ...egressCommands,
  ...policyCommands,
  ...salvageCommands,
  ...tokenCommands,
  ...secretCommands,
  ...configCommands,
  ...selftestCommands,
  ...shellCommands,
];
