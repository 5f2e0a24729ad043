import { errorCatalogue, operations } from '@orrery/protocol';
import { describe, expect, it } from 'vitest';
import { nameOf, optionsOf } from '../src/command-line.ts';
import { table } from '../src/commands/table.ts';
import { endOfTask, exits } from '../src/exit.ts';
import { exitsOf } from '../src/help.ts';
import { shellWords } from './transcript.ts';
import { useBench } from './use-bench.ts';

const { run } = useBench();

describe('the exit table', () => {
  it('is the contract’s', () => {
    expect(Object.fromEntries(exits.map(({ code, meaning }) => [code, meaning]))).toEqual({
      0: 'done (nothing found is done)',
      1: 'failed',
      2: 'usage: the command line is wrong',
      3: 'not found',
      4: 'connection, login or identity',
      5: 'deadline',
      6: 'a person must answer',
      7: 'outcome unknown',
      8: 'conflict, stale, busy or unsupported',
      9: 'result rejected by validation',
      10: 'refused by policy, limit or budget',
      130: 'stopped watching (Ctrl-C)',
      143: 'stopped watching (terminated)',
    });
  });

  it('has every exit code of the catalogue of errors', () => {
    const known = new Set<number>(exits.map(({ code }) => code));
    expect(Object.entries(errorCatalogue).filter(([, { exit }]) => !known.has(exit))).toEqual([]);
  });

  it('is what the help of each command and the manual print', async () => {
    for (const spec of table) {
      const { stdout } = await run([...nameOf(spec).split(' '), '--help']);
      const printed = stdout
        .slice(stdout.indexOf('Exit codes'))
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((line) => line.trim().replace(/\s+/, ' '));
      expect(printed).toEqual(exitsOf(spec).map(({ code, meaning }) => `${code} ${meaning}`));
    }
    const { stdout: manual } = await run(['help', '--markdown']);
    for (const { code, meaning } of exits) expect(manual).toContain(`| \`${code}\` | ${meaning} |`);
  });

  it('tells how a task ended', () => {
    const ends = (['accepted', 'rejected', 'limit', 'cancelled', 'interrupted', 'queued', 'running'] as const).map(
      (state) => endOfTask({ state, cause: null, waitingFor: null })?.exit ?? null,
    );
    const causes = ['agent', 'auth', 'timeout', 'budget', 'backend', 'hook:init'].map(
      (cause) => endOfTask({ state: 'failed', cause, waitingFor: null })?.exit,
    );
    const waits = ['a person: may it?', 'room on the node'].map(
      (waitingFor) => endOfTask({ state: 'waiting', cause: null, waitingFor })?.exit ?? null,
    );
    expect({ ends, causes, waits }).toEqual({
      ends: [0, 9, 10, 1, 1, null, null],
      causes: [1, 1, 5, 10, 1, 1],
      waits: [6, null],
    });
  });
});

describe('the command table', () => {
  it('has examples that are command lines of their own row', () => {
    for (const spec of table) {
      for (const { line } of spec.examples) {
        const words = shellWords(line.replace(/^source <\((.*)\)$/, '$1').split(/ [|<>] /)[0] ?? '');
        expect(words.slice(0, 1 + nameOf(spec).split(' ').length)).toEqual(['orrery', ...nameOf(spec).split(' ')]);
        const flags = words
          .slice(0, words.includes('--') ? words.indexOf('--') : undefined)
          .filter((word) => word.startsWith('--'));
        expect(flags.filter((flag) => !optionsOf(spec).some(({ name }) => `--${name}` === flag))).toEqual([]);
      }
    }
  });

  it('names each command and option once, and loads each command', async () => {
    const names = table.map(nameOf);
    expect(new Set(names).size).toBe(names.length);
    for (const spec of table) {
      const options = optionsOf(spec).map(({ name }) => name);
      expect({ name: nameOf(spec), options: new Set(options).size }).toEqual({ name: nameOf(spec), options: options.length });
      expect(await spec.load()).toBeTypeOf('function');
    }
  });

  it('offers --request-id exactly where the API does a request once', () => {
    const changing = table.filter(
      ({ changes, operations: named = [] }) => changes !== undefined && changes !== 'many' && named.length > 0,
    );
    const claims = changing.map((spec) => {
      const writes = (spec.operations ?? []).filter((name) => operations[name].method !== 'get');
      const takes = writes.some((name) => {
        const { body } = operations[name];
        return body !== null && 'requestId' in (body as unknown as { shape: object }).shape;
      });
      return { name: nameOf(spec), changes: spec.changes, expected: takes ? 'once' : 'plain' };
    });
    expect(claims.filter(({ changes, expected }) => changes !== expected)).toEqual([]);
  });
});
