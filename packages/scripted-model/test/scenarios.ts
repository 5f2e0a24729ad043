/** What a model may do to an agent program, by a name that the recorded dialogues and the tests share. */
export type Scenario = {
  /** One prompt per turn; each later turn goes on with the conversation of the first. */
  readonly prompts: readonly string[];
  readonly script: unknown;
  /** How long the model may be quiet; only the hang needs a short one. */
  readonly quietMs?: number;
  /** A conversation to go on with that does not exist. */
  readonly resume?: string;
};

const PROMPT = ['Say hello. MARKER-first'];
const forever = (step: object): object[] => [{ ...step, times: 'forever', on: 'any' }];

/** The scenarios, in the order they are recorded. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'turn-with-tools': {
    prompts: ['Write hello.txt. MARKER-first', 'Go on, it failed. MARKER-second'],
    script: [
      {
        thinking: 'The file is missing.',
        text: 'I write the file.',
        write: { path: 'hello.txt', content: 'hello\n', fresh: true },
      },
      { edit: { path: 'old.txt', old: 'two', new: 'TWO' } },
      { shell: 'cat old.txt; exit 3' },
      { text: 'Done.', usage: { input: 200, output: 30, cached: 50 } },
      { text: 'Done again.' },
    ],
  },
  'rate-limit': { prompts: PROMPT, script: forever({ error: 'rate_limit' }) },
  overloaded: { prompts: PROMPT, script: forever({ error: 'overloaded' }) },
  server: { prompts: PROMPT, script: forever({ error: 'server' }) },
  auth: { prompts: PROMPT, script: forever({ error: 'auth' }) },
  'usage-limit': { prompts: PROMPT, script: forever({ error: 'usage_limit' }) },
  quota: { prompts: PROMPT, script: forever({ error: 'quota' }) },
  credit: { prompts: PROMPT, script: forever({ error: 'credit' }) },
  'too-long': { prompts: PROMPT, script: forever({ error: 'too_long' }) },
  cut: { prompts: PROMPT, script: forever({ text: 'half of this is lost', cut: 0.5 }) },
  'cut-then-recovered': { prompts: PROMPT, script: [{ text: 'half of this is lost', cut: 0.5 }, { text: 'Recovered.' }] },
  'clean-cut': { prompts: PROMPT, script: forever({ text: 'half of this is lost', cut: 0.5, clean: true }) },
  'stream-error': { prompts: PROMPT, script: forever({ text: 'half of this is lost', cut: 0.5, stream_error: 'overloaded' }) },
  drop: { prompts: PROMPT, script: forever({ drop: true }) },
  garbage: { prompts: PROMPT, script: forever({ garbage: true }) },
  hang: { prompts: PROMPT, script: forever({ text: 'it goes quiet in the middle of this', hang_after: 3 }), quietMs: 4_000 },
  'hang-before-answer': { prompts: PROMPT, script: forever({ delay_ms: 600_000, text: 'too late' }), quietMs: 4_000 },
  'unknown-conversation': { prompts: PROMPT, script: [], resume: '01a22e16-0000-7000-8000-0123456789ab' },
};
