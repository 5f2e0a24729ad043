import { describe, expect, it } from 'vitest';
import { play, type Happening } from '../../../test/acp-play.ts';

const ready: readonly Happening[] = [
  { hear: { id: 0, result: { protocolVersion: 1, agentCapabilities: {} } } },
  { hear: { id: 1, result: { sessionId: 's1' } } },
];

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
