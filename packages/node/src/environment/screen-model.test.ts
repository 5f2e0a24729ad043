import { expect, it } from 'vitest';
import { createScreenModel } from './screen-model.ts';

const size = { columns: 40, rows: 8 };

/** What a screen comes to after output, drawn on an empty one and drawn from there again. */
const drawn = async (output: string): Promise<readonly [string, string]> => {
  const first = createScreenModel(size);
  await first.feed(output);
  const second = createScreenModel(size);
  await second.feed(first.draw());
  return [first.draw(), second.draw()];
};

it.each([
  ['text and colours', 'one\r\n\u001b[31mtwo\u001b[0m\r\n\u001b[3;9Hthree'],
  [
    'the other screen, a hidden cursor, keys and mouse',
    '\u001b[?1049h\u001b[?25l\u001b[?1h\u001b[?1002h\u001b[?1006h\u001b[?2004h\u001b[>1u\u001b[4;7Hx',
  ],
  ['a region that scrolls', 'a\r\nb\r\nc\u001b[2;5r\u001b[4;2Hin it'],
  ['a title and wide characters', '\u001b]0;the title\u0007漢字 \u001b[1mbold'],
])('a drawn screen is the same screen: %s', async (_, output) => {
  const [once, twice] = await drawn(output);
  expect(twice).toBe(once);
});

it('holds modes that no row shows, and none that was taken back', async () => {
  const model = createScreenModel(size);
  await model.feed('\u001b[?25l\u001b[?1006h\u001b[>7u\u001b[>4;2m\u001b]0;x\u0007');
  for (const one of ['\u001b[?25l', '\u001b[?1006h', '\u001b[>7u', '\u001b[>4;2m', '\u001b]0;x\u0007'])
    expect(model.draw()).toContain(one);
  await model.feed('\u001b[<u\u001bc');
  expect(model.draw()).not.toMatch(/\?25l|1006h|>7u|>4;2m/);
});

it('is as large as it was made, whatever scrolls through it', async () => {
  const model = createScreenModel(size);
  await model.feed(`${'a line\r\n'.repeat(50_000)}last`);
  expect(model.draw().length).toBeLessThan(1_000);
  model.resize(60, 10);
  await model.feed('\u001b[9;55Hfar');
  expect(model.draw()).toContain('far');
});
