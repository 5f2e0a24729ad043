import { describe, expect, it } from 'vitest';
import {
  adapterOf,
  play,
  factsOf,
  saidOf,
  prompt,
  answer,
  asks,
  claudeReady,
  item,
  codexReady,
  codexTurn,
  codexAsks,
  type Happening,
} from '../../test/dialogue-script.ts';
import { claudeHarness } from './claude/index.ts';
import { codexHarness } from './codex/index.ts';

describe('what is asked', () => {
  it.each(['Bash', 'Monitor', 'PowerShell'])('by Claude Code for its tool %s is a command', (tool) => {
    const request = { ...asks.request, tool_name: tool };
    const played = play(adapterOf(claudeHarness), [claudeReady, prompt(1), { hear: { ...asks, request } }]);
    expect(factsOf(played).find((fact) => fact.kind === 'asks')).toMatchObject({
      ask: { kind: 'command', tool, command: 'rm -r x' },
    });
  });

  it('by Claude Code is told with the exact command, and answered in its own form', () => {
    const claude = adapterOf(claudeHarness);
    const before: Happening[] = [claudeReady, prompt(1), { hear: asks }];
    const [open] = factsOf(play(claude, before)).filter((fact) => fact.kind === 'asks');
    expect(open).toMatchObject({ key: 'q1', ask: { kind: 'command', tool: 'Bash', command: 'rm -r x' } });
    const responses = (happening: Happening): unknown => saidOf(play(claude, [...before, happening])).at(-1);
    expect(responses(answer('q1', 'approved'))).toMatchObject({
      response: { request_id: 'q1', response: { behavior: 'allow', updatedInput: { command: 'rm -r x' } } },
    });
    expect(responses(answer('q1', 'denied', 'not that'))).toMatchObject({
      response: { response: { behavior: 'deny', message: 'not that' } },
    });
    expect(responses(answer('q1', 'timed-out'))).toMatchObject({
      response: { response: { behavior: 'deny', message: expect.stringContaining('in time') } },
    });
    const cancelled = play(claude, [...before, { hear: { type: 'control_cancel_request', request_id: 'q1' } }]);
    expect(factsOf(cancelled).at(-1)).toEqual({ kind: 'withdrawn', key: 'q1' });
    expect(() =>
      cancelled.dialogue.tell({ kind: 'answer', key: 'q1', outcome: 'approved', answers: null, message: null }),
    ).toThrow(/does not ask/);
  });

  it('by Codex under the id 0 is a question like any other', () => {
    const codex = adapterOf(codexHarness);
    const before = [codexReady, prompt(1), codexTurn(1), codexAsks];
    expect(factsOf(play(codex, before)).at(-1)).toMatchObject({
      kind: 'asks',
      key: '0',
      ask: { kind: 'command', command: "/bin/bash -lc 'rm -r x'" },
    });
    expect(saidOf(play(codex, [...before, answer('0', 'denied')])).at(-1)).toEqual({ id: 0, result: { decision: 'decline' } });
  });

  it('by Codex of a change of files is told with its paths, also where one is moved to, and the change', () => {
    const moved = { path: '/place/b', kind: { type: 'update', move_path: '/place/.claude/c' }, diff: '' };
    const change = {
      type: 'fileChange',
      id: 'f1',
      status: 'inProgress',
      changes: [{ path: '/place/a', kind: {}, diff: '+x' }, moved],
    };
    const played = play(adapterOf(codexHarness), [
      ...[codexReady, prompt(1), codexTurn(1), item('item/started', change)],
      { hear: { id: 1, method: 'item/fileChange/requestApproval', params: { itemId: 'f1', reason: null } } },
    ]);
    expect(factsOf(played).at(-1)).toMatchObject({ ask: { kind: 'edit', paths: ['/place/a', '/place/b', '/place/.claude/c'] } });
    expect(factsOf(played).at(-1)).toMatchObject({ ask: { detail: '/place/a\n+x\n/place/b → /place/.claude/c\n' } });
  });

  it('by an MCP server is a form, of both programs, and is answered as one', () => {
    const requestedSchema = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };
    const given = { kind: 'answer', outcome: 'answered', answers: { size: 3 }, message: null } as const;
    const content = { action: 'accept', content: { size: 3 } };
    const ofClaude = play(adapterOf(claudeHarness), [
      ...[claudeReady, prompt(1)],
      {
        hear: {
          ...{ type: 'control_request', request_id: 'e1' },
          request: { subtype: 'elicitation', mcp_server_name: 'shop', message: 'Size?', requested_schema: requestedSchema },
        },
      },
      { tell: { ...given, key: 'e1' } },
    ]);
    const ofCodex = play(adapterOf(codexHarness), [
      ...[codexReady, prompt(1), codexTurn(1)],
      {
        hear: {
          ...{ id: 4, method: 'mcpServer/elicitation/request' },
          params: { serverName: 'shop', mode: 'form', message: 'Size?', requestedSchema, _meta: null },
        },
      },
      { tell: { ...given, key: '4' } },
    ]);
    for (const played of [ofClaude, ofCodex])
      expect(factsOf(played).at(-1)).toMatchObject({
        ask: { kind: 'form', tool: 'shop', title: 'Size?', questions: [{ key: 'size', type: 'integer', required: true }] },
      });
    expect(saidOf(ofClaude).at(-1)).toMatchObject({ response: { request_id: 'e1', response: content } });
    expect(saidOf(ofCodex).at(-1)).toEqual({ id: 4, result: { ...content, _meta: null } });
  });

  it('by Codex and denied with words is declined, and the words are told into its turn before it asks its model again', () => {
    const said = saidOf(
      play(adapterOf(codexHarness), [codexReady, prompt(1), codexTurn(1), codexAsks, answer('0', 'timed-out')]),
    );
    expect(said.slice(-2)).toMatchObject([
      {
        method: 'turn/steer',
        params: { expectedTurnId: 'u1', input: [{ text: expect.stringContaining('Nobody answered in time') }] },
      },
      { id: 0, result: { decision: 'decline' } },
    ]);
  });

  it('by Codex as a secret can only be denied', () => {
    const questions = [{ id: 'k', header: 'Key', question: 'Key?', isOther: false, isSecret: true, options: null }];
    const hear = { id: 5, method: 'item/tool/requestUserInput', params: { questions } };
    expect(factsOf(play(adapterOf(codexHarness), [codexReady, prompt(1), codexTurn(1), { hear }])).at(-1)).toMatchObject({
      ask: { kind: 'question', outcomes: ['denied'] },
    });
  });

  it('that nobody here can answer is refused to the program, and said once', () => {
    const asked = { id: 3, method: 'account/chatgptAuthTokens/refresh', params: {} };
    const played = play(adapterOf(codexHarness), [codexReady, { hear: asked }]);
    expect(saidOf(played).at(-1)).toMatchObject({ id: 3, error: { code: -32601 } });
  });
});

it('a question of Claude Code that comes with nothing beside the tool is asked all the same', () => {
  const bare = { type: 'control_request', request_id: 'q2', request: { subtype: 'can_use_tool', tool_name: 'Odd' } };
  const played = play(adapterOf(claudeHarness), [claudeReady, prompt(1), { hear: bare }]);
  expect(factsOf(played).at(-1)).toMatchObject({
    kind: 'asks',
    key: 'q2',
    ask: { kind: 'tool', outcomes: ['approved', 'denied'] },
  });
});
