// MCP servers of an agent, as its program is told of them.

import { OrreryError } from '@orrery/protocol';

/** A command that speaks over its own stdin and stdout, inside the environment; or an address of the broker, which takes the run token as a bearer. */
export type McpServer =
  | { readonly name: string; readonly command: readonly string[] }
  | { readonly name: string; readonly url: string };

/** What a program can be given: commands, and addresses for which it reads the run token from its file. */
export type McpWay = 'command' | 'address';

/** Refuses servers that a program cannot be given. @throws OrreryError unsupported */
export const refuseMcp = (
  { id, mcp = [] }: { readonly id: string; readonly mcp?: readonly McpWay[] },
  agent: string,
  servers: readonly { readonly name: string; readonly command: readonly string[] | null }[],
): void => {
  const missing = servers.filter(({ command }) => !mcp.includes(command === null ? 'address' : 'command'));
  if (missing.length === 0) return;
  const names = missing.map(({ name }) => name).join(', ');
  throw new OrreryError('unsupported', `${id} cannot be given the MCP servers of the agent ${agent}: ${names}.`, {
    rule:
      mcp.length === 0
        ? 'It takes none, or none in a folder that it does not trust; an agent is never run with less than its file says.'
        : 'It takes commands alone: it has no way to an address that keeps the run token out of its settings.',
    fix: `orrery agent show ${agent}`,
  });
};

/** A command of a shell that prints the header for an address, as JSON. */
export const printHeader = (tokenFile: string): string =>
  `printf '{"Authorization":"Bearer %s"}' "$(cat '${tokenFile.replaceAll("'", `'\\''`)}')"`;
