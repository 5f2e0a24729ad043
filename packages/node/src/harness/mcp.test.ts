import { describe, expect, it } from 'vitest';
import type { SessionContext } from './harness.ts';
import { refuseMcp } from './mcp.ts';
import { builtinHarnesses, createHarnessRegistry } from './registry.ts';

const mcp = [
  { name: 'near', command: ['node', 'a "b".mjs'] },
  { name: 'far', url: 'http://127.0.0.1:1/mcp/far' },
];
const context = (servers: SessionContext['mcp'] & {}): SessionContext => ({
  ...{ program: { directory: '/p', executable: '/p/x', version: '1', node: '/n/node' }, conversation: null, branch: null },
  ...{ model: null, effort: null, workdir: '/w', home: '/h', scratchpad: '/s', brokerEndpoint: 'http://127.0.0.1:1' },
  ...{ tokenFile: "/run/to'ken", systemPrompt: null, asRoot: false, mode: 'all', mcp: servers },
});
const registry = createHarnessRegistry();
const launched = (id: string, servers = mcp.slice(0, 1)) => registry.get(id).session!.launch(context(servers));
const argument = (id: string, option: string, servers?: typeof mcp): unknown => {
  const { args } = launched(id, servers);
  return JSON.parse(args[args.indexOf(option) + 1] ?? '');
};

describe('MCP servers', () => {
  it('are refused by a program that cannot be given them', () => {
    const refusals = Object.fromEntries(
      builtinHarnesses.map((harness) => [
        harness.id,
        [['x'], null].map((command) => {
          try {
            refuseMcp(harness, 'one', [{ name: 'near', command }]);
            return null;
          } catch (thrown) {
            return (thrown as Error).message;
          }
        }),
      ]),
    );
    const no = (id: string) => `${id} cannot be given the MCP servers of the agent one: near.`;
    expect(refusals).toEqual({
      ...{ claude: [null, null], opencode: [null, null], codex: [null, no('codex')], copilot: [null, no('copilot')] },
      ...Object.fromEntries(['pi', 'gemini', 'qwen', 'command'].map((id) => [id, [no(id), no(id)]])),
    });
  });

  it('are told to each program in its own way, with the run token in its file alone', () => {
    expect(argument('claude', '--mcp-config', mcp)).toEqual({
      mcpServers: {
        near: { type: 'stdio', command: 'node', args: ['a "b".mjs'] },
        far: {
          ...{ type: 'http', url: 'http://127.0.0.1:1/mcp/far' },
          headersHelper: `printf '{"Authorization":"Bearer %s"}' "$(cat '/run/to'\\''ken')"`,
        },
      },
    });
    expect(launched('claude').args).toContain('--strict-mcp-config');
    expect(argument('copilot', '--additional-mcp-config')).toEqual({
      mcpServers: { near: { type: 'local', command: 'node', args: ['a "b".mjs'], tools: ['*'] } },
    });
    expect(launched('codex').homeFiles['.codex/config.toml']).toContain(
      '[mcp_servers."near"]\ncommand = "node"\nargs = ["a \\"b\\".mjs"]\n',
    );
    const config = JSON.parse(launched('opencode', mcp).homeFiles['.config/opencode/opencode.json'] ?? '') as { mcp: object };
    expect(config.mcp).toEqual({
      near: { type: 'local', command: ['node', 'a "b".mjs'], enabled: true },
      far: {
        ...{ type: 'remote', url: 'http://127.0.0.1:1/mcp/far', oauth: false, enabled: true },
        headers: { Authorization: "Bearer {file:/run/to'ken}" },
      },
    });
  });

  it('are told to none without them', () => {
    for (const id of ['claude', 'codex', 'opencode', 'copilot'])
      expect(JSON.stringify([launched(id, []).args, launched(id, []).homeFiles])).not.toMatch(
        /"--mcp-config|additional-mcp|mcp_servers|"mcp/,
      );
  });
});
