/** A node that is away for longer than a program waits for its go: it never began, and is begun again. */
import { expect, it } from 'vitest';
import { GO_TIMEOUT_MS } from '../packages/node/src/exec/limits.ts';
import { crashRun } from './support/crash-run.ts';
import { nothing } from './support/leftovers.ts';
import { placeOfTest } from './support/place.ts';
import { makeRepository } from './support/repository.ts';

it('a program that nobody told to go is begun again, and gets its prompt once', { timeout: 180_000 }, async () => {
  const place = placeOfTest();
  const repository = makeRepository(place, 'late', { validation: 'grep -q "Do it" prompts.txt' });
  const command = ['sh', '-c', 'cat >> prompts.txt; echo done'];
  const { verdict, attempts, files, left, turns } = await crashRun({
    place,
    request: { prompt: 'Do it.', project: repository, harness: 'command', command, requestId: 'late' },
    killAt: ['run-identity-stored:drive'],
    deadMs: GO_TIMEOUT_MS + 3_000,
    files: ['prompts.txt'],
    repository,
  });
  expect({ verdict, attempts, files, left, turn: turns[0] }).toEqual({
    verdict: 'accepted',
    attempts: 1,
    files: { 'prompts.txt': 'Do it.' },
    left: nothing,
    turn: 'done\n',
  });
});
