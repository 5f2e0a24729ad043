import { expect, it } from 'vitest';
import { CLIPBOARD_CHARS, clipboardText } from './clipboard-text.ts';

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

it('sets a text, whatever signs are in it', () => {
  expect([clipboardText(`c;${base64('grün\n✓')}`), clipboardText(`;${base64('x')}`)]).toEqual(['grün\n✓', 'x']);
});

it('a question, what is no text, and too much are nothing', () => {
  const none = ['c;?', '?', 'c;', 'c;!', `c;${btoa('\xff\xfe')}`, `x;${base64('x')}`, 'c;A'];
  expect(none.map(clipboardText)).toEqual(none.map(() => null));
  expect(clipboardText(`c;${'eHh4'.repeat(CLIPBOARD_CHARS / 4 + 1)}`)).toBeNull();
});
