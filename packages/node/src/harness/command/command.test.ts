import { describe, expect, it } from 'vitest';
import { MAX_COMMAND_TEXT_BYTES } from '../limits.ts';
import { commandHarness } from './index.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const start = (offset = 0, state = {}) => commandHarness.translator({ offset, state });
const end = (exitCode: number | null, signal: string | null = null) => ({ exitCode, signal, stderrTail: '' });

const context = {
  program: null,
  prompt: 'do it',
  conversation: null,
  model: null,
  effort: null,
  workdir: '/w',
  home: '/h',
  scratchpad: '/t',
  brokerEndpoint: 'http://127.0.0.1:1',
  tokenFile: '/token',
  systemPrompt: null,
  command: ['./script.sh', '--fast'],
  asRoot: false,
};

describe('the harness command', () => {
  it('runs the argv with the prompt on stdin and nothing else', () => {
    expect(commandHarness.launch(context)).toEqual({
      command: './script.sh',
      args: ['--fast'],
      env: {},
      homeFiles: {},
      input: encode('do it'),
      closeInput: 'after-input',
      programPaths: [],
    });
    expect(() => commandHarness.launch({ ...context, command: [] })).toThrow(/given no command/);
  });

  it('tells whole lines as they come and the rest at the end', () => {
    const translator = start();
    expect(translator.push(encode('one\ntwo\nthr'))).toMatchObject({
      events: [{ kind: 'text', row: 'output-0', text: 'one\ntwo\n' }],
      offset: 8,
    });
    expect(translator.push(encode('ee')).events).toEqual([]);
    expect(translator.end(end(0))).toEqual({
      events: [{ kind: 'text', row: 'output-8', text: 'three' }],
      outcome: { kind: 'turn.ended', outcome: 'success', failure: null, message: null, resetsAt: null },
    });
  });

  it('gives every byte once, whatever the cuts and restarts', () => {
    const whole = encode('grün\n日本語\nend without a line end');
    for (let cut = 0; cut <= whole.length; cut++) {
      const first = start().push(whole.subarray(0, cut));
      const second = start(first.offset, JSON.parse(JSON.stringify(first.state)));
      const told = [...first.events, ...second.push(whole.subarray(first.offset)).events, ...second.end(end(0)).events];
      expect(told.map((event) => (event.kind === 'text' ? event.text : '')).join('')).toBe(
        'grün\n日本語\nend without a line end',
      );
    }
  });

  it('takes a line that never ends in pieces, at characters', () => {
    const { events } = start().push(encode(`${'ü'.repeat(50_000)}`));
    expect(events.map((event) => (event.kind === 'text' ? event.text.length : 0))).toEqual([32_768]);
  });

  it('stops telling past its limit and says how much is missing', () => {
    const translator = start();
    const line = encode(`${'x'.repeat(1023)}\n`);
    for (let bytes = 0; bytes < MAX_COMMAND_TEXT_BYTES + 10 * 1024; bytes += line.length) translator.push(line);
    expect(translator.end(end(0)).events).toEqual([
      { kind: 'notice', level: 'warning', text: '10240 more bytes of output are not shown.' },
    ]);
  });

  it('has the exit code decide', () => {
    expect(start().end(end(3)).outcome).toMatchObject({
      outcome: 'error',
      failure: 'program',
      message: 'The command ended with exit code 3.',
    });
    expect(start().end(end(null, 'SIGKILL')).outcome).toMatchObject({ outcome: 'interrupted' });
    expect(start().end({ ...end(143), stoppedFor: 'timeout' }).outcome).toMatchObject({ outcome: 'error', failure: 'timeout' });
  });
});
