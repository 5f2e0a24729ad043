import { describe, expect, it } from 'vitest';
import { envelopeOf, useBench } from './use-bench.ts';

const { run } = useBench();

describe('a chat without a terminal', () => {
  it('is refused with the command that does without, before anything is asked of a node', async () => {
    const printed = [
      await run(['chat']),
      await run(['chat', 'site-1'], { terminal: true, stdinTTY: false, env: { NO_COLOR: '1' } }),
      await run(['chat', 'site 1'], { terminal: true, env: { TERM: 'dumb' } }),
    ];
    expect(printed.map(({ exit, stdout, stderr }) => [exit, stdout, stderr.split('\n').slice(0, 3)])).toEqual([
      [
        2,
        '',
        [
          '✗ A chat needs a terminal.',
          '  Standard input or output is no terminal.',
          '  orrery session start "look at the failing test"',
        ],
      ],
      [
        2,
        '',
        [
          '✗ A chat needs a terminal.',
          '  Standard input or output is no terminal.',
          '  orrery session send site-1 "now the other one"',
        ],
      ],
      [
        2,
        '',
        [
          '✗ A chat needs a terminal.',
          '  This terminal cannot move its cursor (TERM).',
          '  orrery session send \'site 1\' "now the other one"',
        ],
      ],
    ]);
  });

  it('is refused with --json too, as an envelope', async () => {
    const printed = await run(['chat', '--json'], { terminal: true, env: { TERM: 'xterm' } });
    expect([printed.exit, envelopeOf(printed)['error']]).toMatchObject([2, { code: 'invalid_input' }]);
  });
});
