// What a person's own agent program does: it starts `orrery mcp --attach` and calls its tools, here with the protocol's own client.
import { join } from 'node:path';
import process from 'node:process';
import { Client as McpClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import type { Place } from './place.ts';

export const CLI_MAIN = join(import.meta.dirname, '../../packages/cli/src/main.ts');

/** An answer of a tool: what its JSON says, or the lines of what failed. */
type Answer = { readonly failed: boolean; readonly text: string; readonly value: Record<string, unknown> | null };

export type Program = {
  readonly pid: number;
  readonly mcp: McpClient;
  readonly stderr: () => string;
  tool(name: string, input?: Record<string, unknown>): Promise<Answer>;
  close(): Promise<void>;
};

/** Starts one in a folder. It is ended with the test. */
export const startProgram = async (place: Place, cwd: string, args: readonly string[] = []): Promise<Program> => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI_MAIN, 'mcp', '--attach', ...args],
    env: { ...place.env },
    cwd,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (piece: Buffer) => (stderr += piece.toString('utf8')));
  const mcp = new McpClient({ name: 'program-of-a-test', version: '7' });
  onTestFinished(() => mcp.close());
  await mcp.connect(transport);
  return {
    pid: transport.pid ?? -1,
    mcp,
    stderr: () => stderr,
    tool: async (name, input = {}) => {
      const { content, isError } = await mcp.callTool({ name, arguments: input }, { timeout: 110_000 });
      const [first] = content;
      const text = first?.type === 'text' ? first.text : '';
      return { failed: isError === true, text, value: isError === true ? null : (JSON.parse(text) as Record<string, unknown>) };
    },
    close: () => mcp.close(),
  };
};

/** An agent of the Agent Client Protocol that writes a file when it is prompted, and says so. */
export const writingAgent = `
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const say = (value) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...value }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') say({ id, result: { protocolVersion: 1, agentCapabilities: {} } });
  else if (method === 'session/new') say({ id, result: { sessionId: 's' } });
  else if (method === 'session/prompt') {
    writeFileSync('answer.txt', 'right\\n');
    const content = { type: 'text', text: 'Written.' };
    say({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content } } });
    say({ id, result: { stopReason: 'end_turn' } });
  }
});
`;
