import type { ConversationBody, PermissionMode } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { claudeHarness } from './claude/index.ts';
import { codexHarness } from './codex/index.ts';
import { worksAfter } from './content.ts';
import { leftOpen, type Dialogue, type DialogueStep } from './dialogue.ts';
import type { Harness } from './harness.ts';
import { MAX_OPEN_WORKS, MAX_PLAN_ENTRIES } from './limits.ts';
import { piHarness } from './pi/index.ts';
import { createHarnessRegistry } from './registry.ts';

const START = { conversation: null, branch: null, workdir: '/place', model: null, effort: null, mode: 'all' as PermissionMode };

const begun = ({ session }: Harness): Dialogue => {
  if (session === null) throw new Error('it holds no conversations');
  const dialogue = session.dialogue({ offset: 0, state: null });
  dialogue.begin(START);
  return dialogue;
};

/** What a program says in a turn, as steps. */
const hear = (dialogue: Dialogue, frames: readonly object[]): readonly DialogueStep[] =>
  frames.flatMap((frame) => [...dialogue.push(new TextEncoder().encode(`${JSON.stringify(frame)}\n`))]);
const rows = (steps: readonly DialogueStep[]): readonly ConversationBody[] => steps.flatMap(({ events }) => events);
const ofKind = (steps: readonly DialogueStep[], ...kinds: readonly string[]): readonly ConversationBody[] =>
  rows(steps).filter(({ kind }) => kinds.includes(kind));

describe('Claude Code', () => {
  const init = { type: 'system', subtype: 'init', session_id: 's1', model: 'm', permissionMode: 'default' };
  const echo = { type: 'user', isReplay: true, message: { role: 'user', content: [{ type: 'text', text: 'go' }] } };
  const result = {
    ...{ type: 'result', subtype: 'success', is_error: false, session_id: 's1', result: 'ok' },
    modelUsage: { m: { contextWindow: 200_000 } },
  };
  const says = (content: readonly object[], more: object = {}) => ({
    type: 'assistant',
    message: { id: 'm1', content, usage: { input_tokens: 100, cache_read_input_tokens: 20, cache_creation_input_tokens: 3 } },
    ...more,
  });
  const calls = (id: string, name: string, input: object) => says([{ type: 'tool_use', id, name, input }]);
  const results = (id: string, more: object = {}) => ({
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'done' }] },
    ...more,
  });
  const started = (): Dialogue => {
    const dialogue = begun(claudeHarness);
    dialogue.tell({ kind: 'prompt', turn: 1, text: 'go' });
    return dialogue;
  };

  it('tells its list whole each time an entry is made, changed or taken away', () => {
    const steps = hear(started(), [
      init,
      echo,
      calls('t1', 'TaskCreate', { subject: 'read' }),
      results('t1', { tool_use_result: { task: { id: '1', subject: 'read' } } }),
      calls('t2', 'TaskCreate', { subject: 'write' }),
      results('t2', { tool_use_result: { task: { id: '2', subject: 'write' } } }),
      calls('t3', 'TaskUpdate', { taskId: '1', status: 'in_progress' }),
      results('t3', { tool_use_result: { success: true, taskId: '1' } }),
      calls('t4', 'TaskUpdate', { taskId: '2', status: 'deleted' }),
      results('t4', { tool_use_result: { success: true, taskId: '2' } }),
    ]);
    expect(ofKind(steps, 'plan').at(-2)).toEqual({
      kind: 'plan',
      row: 'plan',
      entries: [
        { text: 'read', status: 'active' },
        { text: 'write', status: 'pending' },
      ],
    });
    expect(ofKind(steps, 'plan').at(-1)).toMatchObject({ entries: [{ text: 'read', status: 'active' }] });
  });

  it('leaves the list as it is when a change of it failed', () => {
    const failed = {
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't3', content: 'no', is_error: true }] },
    };
    const steps = hear(started(), [init, calls('t3', 'TaskUpdate', { taskId: '9', status: 'completed' }), results('t3', failed)]);
    expect(ofKind(steps, 'plan')).toEqual([]);
  });

  it('takes a whole list that was written, within its bounds', () => {
    const todos = Array.from({ length: MAX_PLAN_ENTRIES + 5 }, (_, at) => ({ content: `do ${at}`, status: 'completed' }));
    const [plan] = ofKind(hear(started(), [init, calls('t1', 'TodoWrite', { todos })]), 'plan');
    expect(plan).toMatchObject({ kind: 'plan' });
    expect((plan as ConversationBody & { kind: 'plan' }).entries).toHaveLength(MAX_PLAN_ENTRIES);
  });

  it('tells how full the window is, and that it was summed up', () => {
    const dialogue = started();
    const first = hear(dialogue, [init, echo, says([{ type: 'text', text: 'hello' }]), result]);
    expect(ofKind(first, 'context')).toEqual([{ kind: 'context', usedTokens: 123, windowTokens: 200_000 }]);
    const boundary = {
      ...{ type: 'system', subtype: 'compact_boundary' },
      compact_metadata: { trigger: 'auto', pre_tokens: 190_000, post_tokens: 2_000 },
    };
    expect(rows(hear(dialogue, [boundary]))).toEqual([
      { kind: 'compacted', trigger: 'auto', beforeTokens: 190_000, afterTokens: 2_000 },
      { kind: 'context', usedTokens: 2_000, windowTokens: 200_000 },
    ]);
  });

  const agentStarts = {
    ...{ type: 'system', subtype: 'task_started', task_id: 'a1', tool_use_id: 't1' },
    ...{ description: 'look around', task_type: 'local_agent' },
  };
  const shellStarts = { ...agentStarts, task_id: 'b1', tool_use_id: 't2', description: 'serve', task_type: 'local_bash' };
  const ends = (task: string, status: string) => ({
    ...{ type: 'system', subtype: 'task_notification', task_id: task, status, summary: 'that was it' },
  });

  it('says what a sub-agent does under its name, and keeps the rows of the program itself whole', () => {
    const of = { parent_tool_use_id: 't1' };
    const steps = hear(started(), [
      init,
      echo,
      says([{ type: 'text', text: 'one' }]),
      agentStarts,
      says([{ type: 'tool_use', id: 'x1', name: 'Read', input: {} }], {
        ...of,
        message: { id: 'm9', content: [{ type: 'tool_use', id: 'x1', name: 'Read', input: {} }] },
      }),
      results('x1', of),
      says([], { ...of, message: { id: 'm9', content: [{ type: 'text', text: 'found' }] } }),
      says([{ type: 'text', text: 'two' }]),
      ends('a1', 'completed'),
    ]);
    const told = rows(steps).filter(({ kind }) => kind !== 'turn.started');
    expect(told.map((body) => [body.kind, 'agent' in body ? body.agent : null])).toEqual([
      ['text', null],
      ['agent', null],
      ['tool.call', 't1'],
      ['tool.result', 't1'],
      ['text', 't1'],
      ['text', null],
      ['agent', null],
    ]);
    expect(told[5]).toMatchObject({ row: 'm1', text: 'one\n\ntwo' });
    expect(told.at(-1)).toEqual({ kind: 'agent', row: 't1', name: 'look around', state: 'completed', summary: 'that was it' });
  });

  it('leaves nothing active behind: what was open when the process ended is detached', () => {
    const dialogue = started();
    hear(dialogue, [init, echo, agentStarts, shellStarts, ends('a1', 'killed')]);
    const stored: unknown = JSON.parse(JSON.stringify(dialogue.position().state));
    expect(leftOpen(stored)).toEqual([{ kind: 'background', row: 't2', name: 'serve', state: 'detached', summary: null }]);
    expect(leftOpen('what another version stored')).toEqual([]);
  });

  it('ends a turn by its own result alone, not by that of a turn that the program began by itself', () => {
    const dialogue = started();
    hear(dialogue, [init, echo, says([{ type: 'text', text: 'done' }]), result]);
    expect(hear(dialogue, [init]).flatMap(({ facts }) => facts)).toEqual([{ kind: 'mode', mode: 'default' }]);
    dialogue.tell({ kind: 'prompt', turn: 2, text: 'go' });
    expect(hear(dialogue, [says([{ type: 'text', text: 'woken' }]), result]).flatMap(({ facts }) => facts)).toEqual([]);
    const own = hear(dialogue, [init, echo, says([{ type: 'text', text: 'yours' }]), result]).flatMap(({ facts }) => facts);
    expect(own.filter(({ kind }) => kind !== 'mode')).toEqual([
      { kind: 'accepted', turn: 2 },
      { kind: 'ended', turn: 2, reported: { kind: 'success' } },
    ]);
  });
});

describe('Codex', () => {
  const note = (method: string, params: object) => ({ method, params: { threadId: 't1', turnId: 'u1', ...params } });
  const tokens = (total: number, last: number) =>
    note('thread/tokenUsage/updated', {
      tokenUsage: {
        total: { totalTokens: total, inputTokens: total, outputTokens: 0, cachedInputTokens: 0 },
        last: { totalTokens: last, inputTokens: last, outputTokens: 0, cachedInputTokens: 0 },
        modelContextWindow: 258_400,
      },
    });
  const over = note('turn/completed', { turn: { id: 'u1', status: 'completed' } });
  const started = (): Dialogue => {
    const dialogue = begun(codexHarness);
    hear(dialogue, [{ id: 'thread', result: { thread: { id: 't1' }, approvalPolicy: 'untrusted' } }]);
    dialogue.tell({ kind: 'prompt', turn: 1, text: 'go' });
    hear(dialogue, [{ id: 'turn:1', result: { turn: { id: 'u1' } } }]);
    return dialogue;
  };

  it('tells its plan', () => {
    const plan = [
      { step: 'read', status: 'completed' },
      { step: 'write', status: 'inProgress' },
      { step: 'test', status: 'pending' },
    ];
    expect(rows(hear(started(), [note('turn/plan/updated', { plan })]))).toEqual([
      {
        kind: 'plan',
        row: 'plan-u1',
        entries: [
          { text: 'read', status: 'done' },
          { text: 'write', status: 'active' },
          { text: 'test', status: 'pending' },
        ],
      },
    ]);
  });

  it('counts a step that it tells twice once, and tells how full the window is', () => {
    const steps = hear(started(), [tokens(100, 100), tokens(250, 150), tokens(250, 150), over]);
    expect(rows(steps)).toEqual([
      { kind: 'usage', inputTokens: 250, outputTokens: 0, cachedTokens: 0 },
      { kind: 'context', usedTokens: 150, windowTokens: 258_400 },
    ]);
  });

  it('says that it summed up, and how much was left', () => {
    const item = { type: 'contextCompaction', id: 'c1' };
    const steps = hear(started(), [
      tokens(900, 900),
      note('item/started', { item }),
      tokens(1000, 60),
      note('item/completed', { item }),
    ]);
    expect(rows(steps)).toEqual([{ kind: 'compacted', trigger: 'auto', beforeTokens: 900, afterTokens: 60 }]);
  });

  it('puts what a sub-agent does under its name, and does not take its end for the end of the turn', () => {
    const spawn = {
      ...{ type: 'collabAgentToolCall', id: 'call', tool: 'spawnAgent', status: 'completed' },
      ...{ receiverThreadIds: ['t2'], prompt: 'look around\nand more', agentsStates: { t2: { status: 'pendingInit' } } },
    };
    const theirs = (method: string, params: object) => note(method, { ...params, threadId: 't2', turnId: 'u9' });
    const steps = hear(started(), [
      note('item/completed', { item: spawn }),
      theirs('item/completed', { item: { type: 'agentMessage', id: 'm2', text: 'found' } }),
      theirs('turn/completed', { turn: { id: 'u9', status: 'completed' } }),
    ]);
    expect(rows(steps).slice(1)).toEqual([
      { kind: 'agent', row: 't2', name: 'look around', state: 'running', summary: null },
      { kind: 'text', row: 'm2', text: 'found', agent: 't2' },
      { kind: 'agent', row: 't2', name: 'look around', state: 'completed', summary: null },
    ]);
    expect(steps.flatMap(({ facts }) => facts)).toEqual([]);
  });
});

describe('Pi', () => {
  const usage = { input: 100, output: 20, cacheRead: 5, cacheWrite: 0 };

  it('tells how full the window is, and that it summed up by itself', () => {
    const dialogue = begun(piHarness);
    const state = { sessionId: 'p1', model: { id: 'm', contextWindow: 200_000 }, thinkingLevel: 'medium' };
    hear(dialogue, [{ id: 'get_state', type: 'response', command: 'get_state', success: true, data: state }]);
    dialogue.tell({ kind: 'prompt', turn: 1, text: 'go' });
    const steps = hear(dialogue, [
      {
        type: 'message_end',
        message: { role: 'assistant', content: [{ type: 'text', text: 'one' }], stopReason: 'stop', usage },
      },
      {
        type: 'compaction_end',
        reason: 'threshold',
        result: { tokensBefore: 150_000, estimatedTokensAfter: 32_000 },
        aborted: false,
      },
      { type: 'agent_settled', aborted: false },
    ]);
    expect(ofKind(steps, 'compacted', 'context')).toEqual([
      { kind: 'compacted', trigger: 'auto', beforeTokens: 150_000, afterTokens: 32_000 },
      { kind: 'context', usedTokens: 32_000, windowTokens: 200_000 },
      { kind: 'context', usedTokens: 32_000, windowTokens: 200_000 },
    ]);
  });
});

describe('works that are open', () => {
  it('are forgotten from the oldest on, beyond their limit', () => {
    const many = Array.from({ length: MAX_OPEN_WORKS + 3 }, (_, at) => ({
      ...({ kind: 'agent', name: 'n', state: 'running', summary: null } as const),
      row: `r${at}`,
    }));
    const open = worksAfter([], many);
    expect([open.length, open[0]]).toEqual([MAX_OPEN_WORKS, many[3]]);
    expect(
      worksAfter(
        open,
        many.map((work) => ({ ...work, state: 'completed' as const })),
      ),
    ).toEqual([]);
  });
});

describe('what a program cannot', () => {
  const talkers = createHarnessRegistry().list.flatMap(({ id, session }) => (session === null ? [] : [[id, session] as const]));
  it.each(talkers)('of %s has a reason, and only that', (_, session) => {
    const { missing, modes: _modes, toolGate: _gate, ...abilities } = session.capabilities;
    const lacking = Object.entries(abilities).flatMap(([name, can]) =>
      can === false || (name === 'fork' && can === 'record') ? [name] : [],
    );
    expect(Object.keys(missing).toSorted()).toEqual(lacking.toSorted());
  });
});
