import type { EventBody, OrreryEvent } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { screenOf } from './screen.ts';
import { createTimeline } from './timeline.ts';

const screen = screenOf({ isTTY: false, columns: 60 }, {});

const linesOf = (...bodies: readonly EventBody[]): string[] => {
  const timeline = createTimeline(screen);
  const lines = bodies.flatMap((body, index) =>
    timeline.lines({
      seq: index,
      at: '2026-03-01T12:00:00.000Z',
      taskId: 't',
      sequence: index,
      turn: null,
      body,
    } satisfies OrreryEvent),
  );
  return [...lines, ...timeline.flush()];
};

describe('the timeline', () => {
  it('shows text once, in its last revision, when the next thing begins', () => {
    expect(
      linesOf(
        { kind: 'text', row: 'a', text: 'I' },
        { kind: 'text', row: 'a', text: 'I look.' },
        { kind: 'text', row: 'b', text: 'Then\n\nmore.' },
      ),
    ).toEqual(['    I look.', '    Then', '', '    more.']);
  });

  it('shows a tool call on one line within the width', () => {
    const [line = ''] = linesOf({
      kind: 'tool.call',
      row: 'a',
      tool: 'bash',
      input: `{"command":"echo ${'x'.repeat(100)}\n rm"}`,
    });
    expect({ start: line.slice(0, 30), width: line.length, lines: line.split('\n').length }).toEqual({
      start: '    → bash  {"command":"echo x',
      width: 60,
      lines: 1,
    });
  });

  it('shows the tail of what failed, and nothing of what passed', () => {
    const stage = (state: 'passed' | 'failed' | 'timeout', exitCode: number | null): EventBody[] => [
      { kind: 'stage.started', attempt: 1, stage: 'validate', round: 1 },
      {
        kind: 'stage.output',
        attempt: 1,
        stage: 'validate',
        round: 1,
        stream: 'stdout',
        text: Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join(''),
      },
      {
        kind: 'stage.ended',
        attempt: 1,
        stage: 'validate',
        round: 1,
        state,
        exitCode,
        note: exitCode === 2 ? 'exit 2' : null,
        tookMs: 1200,
      },
    ];
    const failed = linesOf(...stage('failed', 2));
    expect({
      passed: linesOf(...stage('passed', 0)),
      head: failed.slice(0, 3),
      last: failed.at(-1),
      count: failed.length,
      timeout: linesOf(...stage('timeout', null))[0],
    }).toEqual({
      passed: ['✓ validate     1.2 s'],
      head: ['✗ validate     1.2 s  exit 2', '    │ … 10 more lines', '    │ line 10'],
      last: '    │ line 29',
      count: 22,
      timeout: '✗ validate     1.2 s  out of time',
    });
  });

  it('says how a turn went wrong, what is waited for, and what the program noticed', () => {
    expect(
      linesOf(
        { kind: 'turn.ended', outcome: 'limit', failure: 'usage_limit', message: 'until 15:00', resetsAt: null },
        { kind: 'task.state', state: 'waiting', waitingFor: 'room on the node' },
        { kind: 'notice', level: 'warning', text: 'the program is old' },
        { kind: 'thinking', row: 'x', text: 'secret thoughts' },
      ),
    ).toEqual(['! turn      limit: usage_limit: until 15:00', '! waiting   room on the node', '! the program is old']);
  });

  it('knows what goes on, for the line that is overwritten', () => {
    const timeline = createTimeline(screen);
    const at = '2026-03-01T12:00:00.000Z';
    timeline.lines({
      seq: 1,
      at,
      taskId: 't',
      sequence: 1,
      turn: null,
      body: { kind: 'stage.started', attempt: 1, stage: 'drive', round: 2 },
    });
    expect(timeline.doing()).toEqual({ what: 'drive (round 2)', sinceMs: Date.parse(at) });
  });
});
