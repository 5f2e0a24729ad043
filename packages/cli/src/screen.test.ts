import { describe, expect, it } from 'vitest';
import { factsText, fit, screenOf, tableText } from './screen.ts';

const output = (isTTY: boolean, columns = 80) => ({ write: () => undefined, isTTY, columns });

describe('the look of an output', () => {
  it('has colours on a terminal, unless it is told not to', () => {
    const coloured = (isTTY: boolean, env: Record<string, string>, noColor = false): boolean =>
      screenOf(output(isTTY), env, noColor).good('x') !== 'x';
    expect({
      terminal: coloured(true, {}),
      pipe: coloured(false, {}),
      noColor: coloured(true, { NO_COLOR: '1' }),
      emptyNoColor: coloured(true, { NO_COLOR: '' }),
      option: coloured(true, {}, true),
      dumb: coloured(true, { TERM: 'dumb' }),
      forced: coloured(false, { CLICOLOR_FORCE: '1' }),
      notForced: coloured(false, { CLICOLOR_FORCE: '0' }),
      noColorWins: coloured(true, { CLICOLOR_FORCE: '1', NO_COLOR: '1' }),
    }).toEqual({
      terminal: true,
      pipe: false,
      noColor: false,
      emptyNoColor: true,
      option: false,
      dumb: false,
      forced: true,
      notForced: false,
      noColorWins: false,
    });
  });

  it('moves the cursor on a real terminal only', () => {
    expect(
      [screenOf(output(true), {}), screenOf(output(false), {}), screenOf(output(true), { TERM: 'dumb' })].map(({ live }) => live),
    ).toEqual([true, false, false]);
  });
});

describe('a table', () => {
  it('is borderless, aligned, and cut in its last column alone', () => {
    const screen = screenOf(output(true, 40), { NO_COLOR: '1' });
    expect(
      tableText(
        screen,
        ['name', 'what'],
        [
          ['a', 'short'],
          ['longer', 'x'.repeat(60)],
        ],
      ),
    ).toBe(`name    what\na       short\nlonger  ${'x'.repeat(31)}…`);
  });

  it('of facts leaves out what is not there', () => {
    const screen = screenOf(output(false), {});
    expect(
      factsText(screen, [
        ['one', '1'],
        ['none', null],
        ['three', '3'],
      ]),
    ).toBe('one    1\nthree  3');
  });

  it('cuts by characters, not by halves of them', () => {
    expect([fit('🙂🙂🙂', 2), fit('ab', 2)]).toEqual(['🙂…', 'ab']);
  });
});
