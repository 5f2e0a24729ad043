import { describe, expect, it } from 'vitest';
import type { ReportedCatalogue } from '@orrery/protocol';
import { play } from '../../../test/chat-facts.ts';
import { completionsOf } from './slash.ts';

const model = (id: string, efforts: string[]) => ({ id, provider: 'p', model: id.slice(2), name: id, efforts });
const catalogue: ReportedCatalogue = {
  models: [model('p/small', ['low']), model('p/large', ['low', 'high'])],
  commands: [
    { name: 'review', description: 'Look at\n\u001b[31mchanges' },
    { name: 'help', description: 'its own help' },
    { name: 'two words', description: 'cannot be typed' },
  ],
  provenance: 'live',
  reportedAt: null,
};

/** A chat in which one line was written and sent. */
const said = (text: string, session: Parameters<typeof play>[0] = {}) => {
  const chat = play(session);
  chat.facts({ catalogue });
  chat.type(text);
  chat.press({ kind: 'enter' });
  const local = chat.played.print.flatMap((item) => (item.kind === 'local' ? item.lines : []));
  return { effects: chat.effects(), hint: chat.played.state.hint?.text ?? null, local };
};

describe('commands of a chat', () => {
  it('show the models and efforts that the program reported, and choose one', () => {
    expect(said('/model').local).toEqual(['', "  Model: the program's own choice", '    /model p/small', '    /model p/large']);
    expect(said('/model p/large').effects).toEqual([{ kind: 'set', set: { model: 'p/large' } }]);
    expect(said('/effort', { model: 'p/small', effectiveEffort: 'low' }).local).toEqual(['', '  Effort: low', '    /effort low']);
    expect(said('/effort high').effects).toEqual([{ kind: 'set', set: { effort: 'high' } }]);
    const unread = play();
    unread.type('/model');
    unread.press({ kind: 'enter' });
    expect(JSON.stringify(unread.played.print)).toContain('claude has not said what it offers.');
  });

  it('are the program’s own where it reported them; two slashes reach one that is called like ours', () => {
    const sent = (text: string): unknown[] =>
      said(text).effects.map((effect) =>
        effect.kind === 'send' ? effect.sending : effect.kind === 'remember' ? effect.text : effect,
      );
    expect(sent('/review the last one')).toEqual([
      '/review the last one',
      { key: 0, text: 'the last one', steer: false, action: 'command', command: 'review' },
    ]);
    expect(sent('//help')).toEqual(['/help', { key: 0, text: '', steer: false, action: 'command', command: 'help' }]);
    expect(said('/help').effects).toEqual([]);
    expect(said('/help').local.join('\n')).toMatch(/of claude:\n {2}\/review .*\n {2}\/\/help/);
    expect(said('/vanished')).toMatchObject({ effects: [], hint: expect.stringContaining('There is no command /vanished.') });
  });

  it('are offered while they are written, and nothing that a program says of them reaches the terminal', () => {
    const chat = play();
    chat.facts({ catalogue });
    chat.type('/re');
    const offered = completionsOf(chat.played.state);
    expect(offered.map(({ text }) => text)).toEqual(['/rewind', '/rename', '/review']);
    expect(offered.at(-1)?.about).not.toContain('\u001b');
    chat.type('wind');
    expect(completionsOf(chat.played.state).map(({ text }) => text)).toEqual(['/rewind']);
  });

  it('sum up, show what was changed, and go back', () => {
    expect(said('/compact the plan').effects.at(-1)).toEqual({
      kind: 'send',
      sending: { key: 0, text: 'the plan', steer: false, action: 'compact' },
    });
    expect(said('/diff').effects).toEqual([{ kind: 'diff', file: null }]);
    expect(said('/diff a b.txt').effects).toEqual([{ kind: 'diff', file: 'a b.txt' }]);
    expect(said('/diff', { state: 'running' })).toMatchObject({
      effects: [],
      hint: expect.stringContaining('between its turns'),
    });
    expect(said('/fork').effects).toEqual([{ kind: 'fork', at: null }]);
    expect(said('/fork 3').effects).toEqual([{ kind: 'fork', at: '3' }]);
    expect(said('/fork').hint).toBe('Another session parts from here; this one stays as it is.');
    expect(said('/fork', { forks: 'record' }).hint).toContain('the fork begins a new one with a record of what was said');
    expect(said('/rewind').effects).toEqual([{ kind: 'moments' }]);
    expect(said('/rewind 2').effects).toEqual([{ kind: 'rewind', to: '2' }]);
  });
});
