import { describe, expect, it } from 'vitest';
import { play, type Happening } from '../../../test/acp-play.ts';

const ready: readonly Happening[] = [
  { hear: { id: 0, result: { protocolVersion: 1, agentCapabilities: {} } } },
  { hear: { id: 1, result: { sessionId: 's1' } } },
];

describe('what it says by itself', () => {
  const prompted: readonly Happening[] = [...ready, { tell: { kind: 'prompt', turn: 1, text: 'x' } }];
  const piece = (text: string): Happening => ({
    hear: {
      method: 'session/update',
      params: { sessionId: 's1', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
    },
  });
  const over = (stopReason: string): Happening => ({ hear: { id: 2, result: { stopReason } } });

  it('is not whole when it gives a turn up that nobody stopped, and it takes no other one', () => {
    const { facts } = play([...prompted, over('cancelled')]);
    expect(facts.slice(-2)).toMatchObject([
      { kind: 'ended', reported: { kind: 'failure', failure: 'program' } },
      { kind: 'unfit' },
    ]);
    const stopped = play([...prompted, { tell: { kind: 'interrupt' } }, over('cancelled')]);
    expect(stopped.facts.at(-1)).toMatchObject({ kind: 'ended', reported: { kind: 'stopped' } });
  });

  it('stands beside what the model says', () => {
    const script = [...prompted, piece('Half of'), piece('Info: Broken. Retrying...'), piece('All of it.'), over('end_turn')];
    const { events } = play(script, { preset: { ownWords: /^Info: .*Retrying\.\.\.$/ } });
    const said = events.flatMap((body) => (body.kind === 'text' || body.kind === 'notice' ? [body.text] : []));
    expect(said).toEqual(['Half of', 'Agent: Info: Broken. Retrying...', 'All of it.']);
  });

  it('is whole when a character comes in two halves', () => {
    const { events } = play([...prompted, piece('\uD83C'), piece('\uDF0D'), over('end_turn')]);
    expect(events.flatMap((body) => (body.kind === 'text' ? [body.text] : []))).toEqual(['🌍']);
  });
});

describe('what it is told of an input', () => {
  const asked = (given: object): unknown => {
    const { said } = play([...ready, { tell: { kind: 'prompt', turn: 1, text: 'x', ...given } }]);
    return (said.at(-1)!.params as { prompt: unknown }).prompt;
  };
  const text = (given: object): string => (asked(given) as [{ text: string }])[0].text;

  it.each(['/allow-all', ' /allow-all', '\n\t/allow-all', '\ufeff/allow-all', '\u00a0/allow-all', '//'])(
    'keeps the words %j from being a command',
    (words) => {
      expect(text({ text: words })).toBe(`\u200b${words}`);
      expect(text({ text: words, action: 'command' })).toBe(words);
    },
  );

  it('leaves other words as they are', () => {
    for (const words of ['a /path', 'words', '']) expect(text({ text: words })).toBe(words);
  });

  it('calls the order to sum up as its program does', () => {
    expect(text({ text: '/compact the names', action: 'compact' })).toBe('/compress the names');
  });

  it('does not offer commands that would change what the program asks', () => {
    const availableCommands = [
      { name: 'init', description: 'begins' },
      { name: 'allow-all', description: 'asks nothing' },
    ];
    const update = { sessionUpdate: 'available_commands_update', availableCommands };
    const script = [...ready, { hear: { method: 'session/update', params: { sessionId: 's1', update } } }];
    const { facts } = play(script, { preset: { withheld: ['allow-all'] } });
    expect(facts.at(-1)).toEqual({ kind: 'catalogue', catalogue: { commands: [{ name: 'init', description: 'begins' }] } });
  });

  it('gives images behind the words', () => {
    const image = { mediaType: 'image/png', base64: 'iVBO', path: '/home/a.png' };
    expect(asked({ images: [image] })).toEqual([
      { type: 'text', text: 'x' },
      { type: 'image', mimeType: 'image/png', data: 'iVBO' },
    ]);
  });
});
