import { describe, expect, it } from 'vitest';
import { formsIn, leakForms } from './leak-forms.ts';

// Its base64 has characters of either alphabet at some alignments.
const secret = 'cn/5f0e9a+Zq~71?>~??~>>';
const forms = leakForms(secret);

describe('the shapes of a secret', () => {
  it.each([
    ['plain', `a ${secret} b`],
    ['base64', Buffer.from(`x${secret}y`).toString('base64')],
    ['base64', Buffer.from(`xy${secret}`).toString('base64')],
    ['base64', Buffer.from(`${secret}xyz`).toString('base64')],
    ['base64', Buffer.from(`{"token":"${secret}"}`).toString('base64url')],
    ['hex', Buffer.from(`--${secret}`).toString('hex')],
    ['hex', Buffer.from(secret).toString('hex').toUpperCase()],
    ['url', `https://host/?q=${encodeURIComponent(secret)}`],
    ['reversed', `<${[...secret].toReversed().join('')}>`],
  ])('%s is found inside a longer text', (form, text) => {
    expect(formsIn(text, forms)).toContain(form);
  });

  it('another text has none of them', () => {
    expect(formsIn('cn/5f0e9a+Zq~72?>~ and some more text of the same kind', forms)).toEqual([]);
  });
});
