import { OrreryError, type AgentTools } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { claudeHarness } from './claude/index.ts';
import { codexHarness } from './codex/index.ts';
import type { Harness, SessionContext } from './harness.ts';
import { copilotHarness } from './copilot/index.ts';
import { geminiHarness } from './gemini/index.ts';
import { opencodeHarness } from './opencode/index.ts';
import { piHarness } from './pi/index.ts';
import { qwenHarness } from './qwen/index.ts';
import { refuseTools } from './tool-lists.ts';

const refused = (harness: Harness, lists: AgentTools | null): string | null => {
  try {
    refuseTools(harness, 'one', lists);
    return null;
  } catch (thrown) {
    return thrown instanceof OrreryError ? `${thrown.code}: ${thrown.message}` : String(thrown);
  }
};

const context = (tools: AgentTools | null): SessionContext => ({
  ...{ program: { directory: '/p', executable: '/p/x', version: '1', node: '/n/node' }, conversation: null, branch: null },
  ...{ model: null, effort: null, workdir: '/w', home: '/h', scratchpad: '/s', brokerEndpoint: 'http://127.0.0.1:1' },
  ...{ tokenFile: '/t', systemPrompt: null, asRoot: false, mode: 'all', tools },
});
const argsOf = (harness: Harness, tools: AgentTools | null): readonly string[] => harness.session!.launch(context(tools)).args;
/** What lists add to the arguments. */
const added = (harness: Harness, tools: AgentTools): readonly string[] =>
  argsOf(harness, tools).filter((arg) => !argsOf(harness, null).includes(arg));

describe('lists of tools', () => {
  it('are refused by a program that cannot be held to them, and for a tool that it does not have', () => {
    const lists = { allow: null, deny: ['bsh'] };
    expect([codexHarness, qwenHarness, claudeHarness, opencodeHarness].map((harness) => refused(harness, lists))).toEqual([
      'unsupported: codex cannot be held to the tools of the agent one.',
      'unsupported: qwen cannot be held to the tools of the agent one.',
      'unsupported: claude has no tool bsh, which the agent one names.',
      'unsupported: opencode has no tool bsh, which the agent one names.',
    ]);
    expect([codexHarness, claudeHarness].map((harness) => refused(harness, null))).toEqual([null, null]);
  });

  it('are told to each program when it starts, in sessions and in tasks', () => {
    expect(added(claudeHarness, { allow: ['Read', 'Grep'], deny: ['Bash'] })).toEqual([
      '--tools=Read,Grep',
      '--disallowedTools=Bash',
    ]);
    expect(added(claudeHarness, { allow: [], deny: [] })).toEqual(['--tools=']);
    expect(added(piHarness, { allow: ['read'], deny: ['bash'] })).toEqual(['--tools', 'read', '--exclude-tools', 'bash']);
    expect(added(piHarness, { allow: [], deny: [] })).toEqual(['--no-tools']);
    expect(added(copilotHarness, { allow: ['view', 'bash'], deny: ['bash'] })).toEqual(['--available-tools=view']);
    expect(added(copilotHarness, { allow: null, deny: ['bash'] })).toEqual(['--excluded-tools=bash']);
    // An empty list would leave all of them there.
    expect(added(copilotHarness, { allow: ['bash'], deny: ['bash'] })).toEqual([
      `--excluded-tools=${copilotHarness.tools?.join(',')}`,
    ]);
    const gemini = (tools: AgentTools | null): unknown =>
      JSON.parse(geminiHarness.session!.launch(context(tools)).homeFiles['.gemini/settings.json'] ?? '').tools;
    expect(gemini({ allow: ['read_file'], deny: ['glob'] })).toEqual({ core: ['read_file'], exclude: ['glob'] });
    expect([gemini({ allow: [], deny: [] }), gemini(null)]).toEqual([{ core: [] }, undefined]);
    const opencode = (tools: AgentTools | null): unknown =>
      JSON.parse(opencodeHarness.session!.launch(context(tools)).homeFiles['.config/opencode/opencode.json'] ?? '').permission;
    const room = { external_directory: 'ask', doom_loop: 'ask' };
    expect(opencode({ allow: ['read', 'bash', 'edit'], deny: ['edit'] })).toEqual({
      '*': 'deny',
      ...room,
      read: 'allow',
      bash: 'ask',
    });
    expect(opencode({ allow: [], deny: [] })).toEqual({ '*': 'deny', ...room });
    expect(opencode({ allow: null, deny: ['read', 'bash'] })).toMatchObject({
      '*': 'ask',
      read: 'deny',
      bash: 'deny',
      glob: 'allow',
    });
    expect(opencode(null)).toMatchObject({ '*': 'ask', read: 'allow' });
    const task = { ...context({ allow: ['Read'], deny: [] }), prompt: 'x', command: null };
    expect(claudeHarness.launch(task).args).toContain('--tools=Read');
  });
});
