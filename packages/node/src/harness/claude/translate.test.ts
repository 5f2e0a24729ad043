import { describe, expect, it } from 'vitest';
import { play, readRecordings } from '../contract.ts';
import { claudeHarness } from './index.ts';
import { claudeDialect } from './translate.ts';

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
const assistant = (id: string, ...content: unknown[]): string =>
  line({ type: 'assistant', message: { id, content }, parent_tool_use_id: null });
const events = (text: string) => claudeHarness.translator({ offset: 0, state: {} }).push(new TextEncoder().encode(text)).events;

describe('Claude Code', () => {
  it('tells a recorded turn with tools', () => {
    const recording = readRecordings(`${import.meta.dirname}/fixtures`).find(({ name }) => name === 'turn-with-tools');
    const { events: told, position } = play(claudeHarness, recording!);
    const bash = expect.objectContaining({
      kind: 'tool.result',
      tool: 'Bash',
      failed: true,
      output: expect.stringContaining('TWO'),
    });
    expect(told.map((event) => ('row' in event ? `${event.kind} ${event.row}` : event.kind))).toMatchInlineSnapshot(`
      [
        "turn.started",
        "thinking msg_scripted_1",
        "text msg_scripted_1",
        "tool.call toolu_call_1_0",
        "tool.result toolu_call_1_0",
        "tool.call toolu_call_2_0",
        "tool.call toolu_call_2_1",
        "tool.result toolu_call_2_0",
        "tool.result toolu_call_2_1",
        "tool.call toolu_call_3_0",
        "tool.result toolu_call_3_0",
        "text msg_scripted_4",
        "usage",
        "context",
      ]
    `);
    expect(told).toContainEqual(bash);
    expect(told).toContainEqual({ kind: 'usage', inputTokens: 550, outputTokens: 90, cachedTokens: 50 });
    expect(position).toMatchObject({ conversation: '00000000-0000-4000-8000-000000000001', settled: true, accepted: true });
  });

  it('keeps the blocks of one model response in one row, each line a revision', () => {
    const told = events(
      assistant('m1', { type: 'text', text: 'one' }) +
        assistant('m1', { type: 'text', text: 'two' }) +
        assistant('m2', { type: 'text', text: 'three' }),
    );
    expect(told).toEqual([
      { kind: 'text', row: 'm1', text: 'one' },
      { kind: 'text', row: 'm1', text: 'one\n\ntwo' },
      { kind: 'text', row: 'm2', text: 'three' },
    ]);
  });

  it('cuts long tool inputs and outputs and says how long they were', () => {
    const output = 'ü'.repeat(5000);
    const told = events(
      assistant('m1', { type: 'tool_use', id: 't1', name: 'Read', input: { path: 'x'.repeat(9000) } }) +
        line({
          type: 'user',
          message: {
            content: [
              {
                type: 'tool_result',
                tool_use_id: 't1',
                content: [{ type: 'text', text: output }, { type: 'image' }],
                is_error: false,
              },
            ],
          },
        }),
    );
    expect(told).toEqual([
      { kind: 'tool.call', row: 't1', tool: 'Read', input: expect.stringMatching(/\[cut: 4096 of 9011 bytes shown\]$/) },
      {
        kind: 'tool.result',
        row: 't1',
        tool: 'Read',
        output: `${'ü'.repeat(2048)}\n[cut: 4096 of 10008 bytes shown]`,
        outputBytes: 10_008,
        failed: false,
      },
    ]);
  });

  it('knows a usage limit and its end from the rate limit event', () => {
    const translator = claudeHarness.translator({ offset: 0, state: {} });
    const limited = {
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt: 1_900_000_000, rateLimitType: 'five_hour' },
    };
    const result = {
      type: 'result',
      subtype: 'success',
      is_error: true,
      api_error_status: 429,
      result: "You've hit your 5-hour limit",
    };
    translator.push(new TextEncoder().encode(line(limited) + line(result)));
    expect(translator.end({ exitCode: 1, signal: null, stderrTail: '' }).outcome).toEqual({
      kind: 'turn.ended',
      outcome: 'limit',
      failure: 'usage_limit',
      message: "You've hit your 5-hour limit",
      resetsAt: '2030-03-17T17:46:40.000Z',
    });
  });

  it('forgets at the end of a turn what was heard of its failure: the next one fails for its own reason', () => {
    const frames = [
      { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: 1_900_000_000 } },
      { type: 'result', subtype: 'success', is_error: true, result: "You've hit your 5-hour limit" },
      { type: 'result', subtype: 'error_during_execution', is_error: true, result: 'Something else went wrong' },
    ];
    let state = claudeDialect.initial;
    const told = frames.map((frame) => {
      ({ state } = claudeDialect.frame(state, frame));
      return state.reported;
    });
    expect(told.slice(1)).toMatchObject([
      { failure: 'usage_limit', resetsAt: '2030-03-17T17:46:40.000Z' },
      { failure: 'program', resetsAt: null },
    ]);
  });

  it('says what it does not know once, counts it, and goes on', () => {
    const translator = claudeHarness.translator({ offset: 0, state: {} });
    const strange = line({ type: 'hologram' });
    expect(translator.push(new TextEncoder().encode(strange.repeat(3))).events).toEqual([
      { kind: 'notice', level: 'info', text: 'Claude Code said something this adapter does not know: frame hologram.' },
    ]);
    expect(translator.end({ exitCode: 0, signal: null, stderrTail: '' }).events).toEqual([
      { kind: 'notice', level: 'info', text: 'Unknown to this adapter: frame hologram (3 times).' },
    ]);
  });
});
