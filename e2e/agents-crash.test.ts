/** A node that is killed while a real agent program works: the conversation goes on, and each prompt is sent once. */
import type { ScriptedModel } from '@orrery/scripted-model';
import { beforeAll, describe, expect, it } from 'vitest';
import { configFor, isThere, modelOfSuite, scriptsOf, type AgentName } from './support/agents.ts';
import { crashRun, type Outcome } from './support/crash-run.ts';
import { nothing } from './support/leftovers.ts';
import { lentPlaces, type LentPlace } from './support/lent-places.ts';
import { makeRepository } from './support/repository.ts';

/** A slow tool in the first turn, a slow answer in the second: there is something going on wherever the node dies. */
const steps = [
  {
    text: 'First I do some work.',
    shell: 'echo once >> work.txt; i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo step $i; sleep 0.1; done',
  },
  { text: 'That was all.' },
  { text: 'I see. I write the answer.', write: { path: 'answer.txt', content: 'right\n', fresh: true } },
  { text: 'It is written now.' },
];

const points: Readonly<Record<AgentName, readonly string[]>> = {
  pi: [
    'run-launched:drive',
    'run-going:drive',
    'input-written:drive',
    'output-committed:drive:2',
    'run-ended:drive',
    'input-written:drive:2',
    'collected',
  ],
  claude: ['run-going:drive', 'input-written:drive', 'output-committed:drive:2', 'run-ended:drive', 'input-written:drive:2'],
  codex: ['output-committed:drive:2', 'input-written:drive:2'],
};

let model: ScriptedModel;

beforeAll(async () => {
  model = await modelOfSuite(scriptsOf({ crash: steps }));
});

const lend = lentPlaces(() => configFor(model));

const conduct = async (name: AgentName, killAt: readonly string[], place: LentPlace) => {
  const validation = `grep -q right answer.txt || { echo "MARKER-why-${place.row}"; exit 3; }`;
  const repository = makeRepository(place, place.row, { validation });
  const outcome = await crashRun({
    place,
    request: {
      prompt: `Write the answer. [crash] MARKER-first-${place.row}`,
      project: repository,
      harness: name,
      requestId: place.row,
    },
    killAt,
    deadMs: 2_500,
    files: ['work.txt', 'answer.txt'],
    repository,
    limitMs: 200_000,
  });
  const counts = model.promptCounts();
  return summary(outcome, [counts[`MARKER-first-${place.row}`], counts[`MARKER-why-${place.row}`]]);
};

/** `asked`: how often the model saw the prompt, and what sent the program back. */
const summary = (outcome: Outcome, asked: readonly (number | undefined)[]) => ({
  verdict: outcome.verdict,
  cause: outcome.cause,
  reason: outcome.reason,
  attempts: outcome.attempts,
  files: outcome.files,
  stages: outcome.stages,
  gapless: outcome.gapless,
  prompts: outcome.prompts.length,
  left: outcome.left,
  said: ['First I do some work.', 'That was all.', 'It is written now.'].map(
    (text) => outcome.turns.join('').split(text).length - 1,
  ),
  asked,
});

const expected = {
  verdict: 'accepted',
  cause: null,
  reason: null,
  attempts: 1,
  files: { 'work.txt': 'once', 'answer.txt': 'right' },
  stages: [
    'prepare/1 passed null',
    'open/1 passed null',
    'drive/1 passed 0',
    'validate/1 failed 3',
    'drive/2 passed 0',
    'validate/2 passed 0',
    'settle/1 passed null',
  ].flatMap((stage) => [`1/${stage.split(' ')[0]} started`, `1/${stage}`]),
  gapless: true,
  prompts: 2,
  left: nothing,
  said: [1, 1, 1],
  asked: [1, 1],
};

/**
 * A model stream that crosses the node is cut with it, and the program asks again by itself: the node sent its prompt once,
 * the model saw it twice, and played the next step. It can be so only where the node dies while the first answer comes.
 */
const cutInFirstAnswer = {
  ...expected,
  files: { 'work.txt': null, 'answer.txt': 'right' },
  said: [0, 1, 1],
  asked: [2, 1],
};

for (const name of ['pi', 'claude', 'codex'] as const) {
  describe.skipIf(!isThere(name)).concurrent(`${name} under a node that is killed`, { timeout: 300_000 }, () => {
    it.for(points[name])('at %s', async (point, context) => {
      const found = await conduct(name, [point], lend(context));
      const isCut = point.startsWith('output-committed') && found.asked[0] === 2;
      expect(found).toEqual(isCut ? cutInFirstAnswer : expected);
    });

    it('never: the same', async (context) => {
      expect(await conduct(name, [], lend(context))).toEqual(expected);
    });
  });
}
