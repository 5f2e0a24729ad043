import type { TerminalFrame } from '@orrery/protocol';
import { decodeTerminalBytes, encodeTerminalBytes } from '@orrery/protocol/terminal-frames';
import { describe, expect, it } from 'vitest';
import { openSession, type Hears, type Status } from './session.ts';

/** A session whose node, screen and clock are in the test's hand. */
const opened = () => {
  const queries: string[] = [];
  const sent: unknown[] = [];
  const drawn: string[] = [];
  const told: Status[] = [];
  const waits: (() => void)[] = [];
  let hears: Hears | null = null;
  const session = openSession({
    connect: (query, next) => {
      queries.push(query);
      hears = next;
      return {
        send: (data) => {
          if (typeof data === 'string') return void sent.push(JSON.parse(data));
          const frame = decodeTerminalBytes(data);
          sent.push(`${frame?.generation}:${frame?.offset}:${new TextDecoder().decode(frame?.bytes)}`);
        },
        close: () => undefined,
      };
    },
    screen: {
      write: (bytes, replay, done) => {
        drawn.push(`${replay ? 'again' : 'new'}:${bytes.length > 100 ? bytes.length : new TextDecoder().decode(bytes)}`);
        done();
      },
      resize: ({ columns, rows }) => drawn.push(`${columns}x${rows}`),
      clear: () => drawn.push('clear'),
    },
    tell: (status) => told.push(status),
    later: (_ms, then) => {
      waits.push(then);
      return () => undefined;
    },
  });
  const hear = (frame: TerminalFrame): void => hears?.text(JSON.stringify(frame));
  const output = (stream: 'stdout' | 'screen', offset: number, text: string): void =>
    hears?.bytes(encodeTerminalBytes({ stream, generation: 7, offset, bytes: new TextEncoder().encode(text) }));
  const hello = (replayUntil = 0, writer: 'you' | 'other' | 'none' = 'none'): void =>
    hear({ type: 'hello', generation: 7, tty: true, viewer: 'v1', writer, replayUntil });
  const breaks = (): void => {
    hears?.closed();
    waits.shift()?.();
  };
  const say = (text: string, person = true): void => session.type(new TextEncoder().encode(text), person);
  return { session, queries, sent, drawn, told, waits, hear, output, hello, breaks, say };
};

describe('a terminal in the page', () => {
  it('draws each byte once over connections that break, and tells what is drawn again', () => {
    const { output, hello, breaks, drawn, queries } = opened();
    hello(4);
    output('stdout', 0, 'abcdef');
    breaks();
    hello(8);
    output('stdout', 4, 'efgh');
    output('stdout', 8, 'ij');
    expect(drawn).toEqual(['again:abcd', 'new:ef', 'again:gh', 'new:ij']);
    expect(queries).toEqual(['window=1&stdout=0&stderr=0', 'window=1&stdout=6&stderr=0&viewer=v1']);
  });

  it('sends what was typed once, and again only what no node has', () => {
    const { say, sent, hello, hear, breaks } = opened();
    say('early');
    hello();
    say('ab');
    hear({ type: 'took', offset: 7 });
    say('c');
    breaks();
    hello();
    expect(sent).toEqual(['7:0:early', '7:5:ab', '7:7:c', '7:7:c']);
  });

  it('a person takes over by typing, what a terminal answers by itself does not', () => {
    const { say, sent, hello, hear } = opened();
    hello(0, 'other');
    say('\u001b[?1;2c', false);
    expect(sent).toEqual([]);
    say('x');
    hear({ type: 'writer', writer: 'you' });
    say('y');
    expect(sent).toEqual([{ type: 'take' }, '7:0:x', '7:1:y']);
  });

  it('shows the screen of output that is gone at the size it was drawn in, then goes on', () => {
    const { hello, hear, output, drawn } = opened();
    hello(100);
    hear({ type: 'size', columns: 90, rows: 30 });
    hear({ type: 'desync', stream: 'stdout', offset: 50, screen: { columns: 40, rows: 10, bytes: 6 } });
    output('screen', 50, 'scr');
    output('screen', 50, 'een');
    output('stdout', 50, 'more');
    expect(drawn).toEqual(['90x30', 'clear', '40x10', 'again:scr', 'again:een', '90x30', 'again:more']);
  });

  it('says how far it has drawn, so that no more than a window is on its way', () => {
    const { hello, output, sent } = opened();
    hello();
    output('stdout', 0, 'x'.repeat(100_000));
    expect(sent).toEqual([]);
    output('stdout', 100_000, 'x'.repeat(100_000));
    expect(sent).toEqual([{ type: 'seen', stdout: 200_000, stderr: 0 }]);
  });

  it('is over when its program is, and is not opened again', () => {
    const { hello, hear, breaks, say, told, queries, sent } = opened();
    hello();
    hear({ type: 'exit', exitCode: 3, signal: null, limit: null, reason: null });
    breaks();
    say('late');
    expect([told.at(-1)?.exit?.exitCode, queries.length, sent]).toEqual([3, 1, []]);
  });
});
