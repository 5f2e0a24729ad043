import { describe, expect, it } from 'vitest';
import { withoutAsking } from './without-asking.ts';

const textsFor = (kind: Parameters<typeof withoutAsking>[0]['kind']) =>
  withoutAsking({ kind }, { name: 'site-1' })?.lines.map(({ text }) => text);

describe('what lets a thing be done without asking', () => {
  it('is the narrowest mode that covers it', () => {
    expect(textsFor('edit')).toEqual(['orrery session set site-1 --mode edits', 'mode: edits']);
    expect([textsFor('command'), textsFor('tool')]).toEqual([
      ['orrery session set site-1 --mode all', 'mode: all'],
      ['orrery session set site-1 --mode all', 'mode: all'],
    ]);
  });

  it('is nothing for questions and plans, and says when it lets more be done', () => {
    expect([textsFor('question'), textsFor('form'), textsFor('plan')]).toEqual([undefined, undefined, undefined]);
    expect(withoutAsking({ kind: 'command' }, { name: 'site-1' })?.widens).toContain('not this one alone');
  });
});
