import { describe, expect, it } from 'vitest';
import { parseScript, parseSteps, ScriptError } from './script.ts';

describe('a script', () => {
  it('is a list of steps, or steps and named scripts', () => {
    expect([
      parseScript([{ text: 'a' }]),
      parseScript({ steps: [{ text: 'a' }], scripts: { fix: { marker: '[fix]', steps: [{ shell: 'ls' }] } } }),
    ]).toEqual([
      { steps: [{ text: 'a' }], scripts: {} },
      { steps: [{ text: 'a' }], scripts: { fix: { marker: '[fix]', perConversation: false, steps: [{ shell: 'ls' }] } } },
    ]);
  });

  it('counts one step as a list of one', () => {
    expect(parseSteps({ text: 'a' })).toEqual([{ text: 'a' }]);
  });

  it.each([
    ['text', 'script: expected a list of steps, or {steps, scripts}. Write [] for a script without steps.'],
    [{ step: [] }, 'script: unknown field `step`. Known: steps, scripts.'],
    [[{ txt: 'a' }], /^script\[0\]: unknown field `txt`\. Known: text, thinking, /],
    [[{ text: 'a' }, { text: 1 }], 'script[1]: `text` must be a string.'],
    [[7], 'script[0]: a step must be an object such as {"text": "Done."}.'],
    [[{ error: 'rate_limited' }], /^script\[0\]: `error` must be one of rate_limit, usage_limit, /],
    [[{ error: { status: 200 } }], /^script\[0\]: `error` must be /],
    [[{ cut: 1 }], 'script[0]: `cut` must be true or a share above 0 and below 1.'],
    [[{ match: '(' }], 'script[0]: `match` must be a regular expression as a string.'],
    [[{ times: 0 }], 'script[0]: `times` must be "forever" or a whole number from 1.'],
    [[{ bytes: 1e12 }], 'script[0]: `bytes` must be a whole number from 1 to 67108864.'],
    [[{ write: { path: 'a' } }], 'script[0]: `write` must be {path, content, fresh} or a list of them.'],
    [
      [{ edit: { path: 'a', old: '', new: 'b' } }],
      'script[0]: `edit` must be {path, old, new} or a list of them, `old` not empty.',
    ],
    [[{ input: {} }], 'script[0]: `input` says nothing without `tool`.'],
    [[{ clean: true }], 'script[0]: `clean` says nothing without `cut`.'],
    [[{ error: 'auth', garbage: true }], 'script[0]: `error` and `garbage` exclude each other; keep one.'],
    [
      { scripts: { a: { marker: '', steps: [] } } },
      'scripts.a: `marker` must be the text that a prompt carries to choose this script.',
    ],
    [{ scripts: { a: { marker: 'm', steps: [{ on: 'never' }] } } }, 'scripts.a.steps[0]: `on` must be "main", "side" or "any".'],
  ])('that says %j is refused with the place, the rule and the fix', (script, message) => {
    const parse = (): unknown => parseScript(script);
    expect(parse).toThrow(ScriptError);
    expect(parse).toThrow(
      typeof message === 'string' ? new RegExp(`^${message.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`) : message,
    );
  });
});
