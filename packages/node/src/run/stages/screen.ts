// The agent program's own full screen: a person works with it, and it is over when the program ends.

import { OrreryError, type StageName } from '@orrery/protocol';
import type { RunEnd, RunSpec } from '../../exec/backend.ts';
import type { Harness, HarnessScreen, ScreenLaunch } from '../../harness/harness.ts';
import type { Ending } from '../../task/index.ts';
import { limitsOf } from '../attempt-settings.ts';
import { beginStage, checkGoing, endStage, remainingMs, type OpenAttempt } from '../attempt-context.ts';
import { endingOfRun } from '../ending.ts';
import { conductProgram, type ProgramEnd, type ProgramPlan } from '../program.ts';
import { screenConsumer, type ScreenConsumer } from '../screen-consumer.ts';
import { writeWaiting } from '../waiting.ts';
import { agentSpec, openingPrompt, provideInput, shownPrompt, turnContext, writeHomeFiles } from './agent-spec.ts';
import { environmentDirectory } from './open.ts';

const name: StageName = 'drive';
/** Until somebody looks, who has the size of a terminal. */
const SIZE = { columns: 80, rows: 24 };
/** How a person may leave a program: by itself, by Ctrl-C, by a closed terminal. */
const LEFT: readonly (number | null)[] = [0, 129, 130];

/** Runs the program until it ends. Answers null when a person ended it, else how the attempt ends. */
export const driveScreen = async (open: OpenAttempt, prompt: string): Promise<Ending | null> => {
  const row = await beginStage(open, name, 1);
  const { end } = await conductScreen(open, prompt);
  // What was done is here from now on, whatever becomes of the place it was done in.
  await open.environment.sync();
  checkGoing(open);
  const ending = endingOfRun(end, 'The agent') ?? endingOfExit(end);
  const { exitCode } = end;
  const state = ending === null ? 'passed' : end.limit === 'wall' ? 'timeout' : 'failed';
  const also = (tx: Parameters<typeof writeWaiting>[0]): Promise<void> => writeWaiting(tx, open, null);
  endStage(open, row, { state, exitCode, note: ending?.reason ?? null, output: null, also });
  return ending;
};

const endingOfExit = ({ exitCode, signal }: RunEnd): Ending | null => {
  if (LEFT.includes(exitCode)) return null;
  const how = signal === null ? `exit code ${exitCode ?? 'unknown'}` : `signal ${signal}`;
  return { verdict: 'failed', cause: 'agent', reason: `The agent program ended with ${how}.` };
};

const conductScreen = async (open: OpenAttempt, given: string): Promise<ProgramEnd<null>> => {
  const harness = open.parts.harness(open.prepared.settings.harness);
  const { screen } = harness;
  if (screen === null)
    throw new OrreryError('unsupported', `The harness ${harness.id} has no full screen.`, {
      rule: 'A program is shown as it is.',
      fix: 'orrery harness list',
    });
  const input = await provideInput(open);
  // Begun with nothing to do, it is not told what to do either.
  const prompt = given === '' ? '' : openingPrompt(open, given, input);
  const launch = screen.launch(await turnContext(open, harness, prompt));
  await writeHomeFiles(open, launch);
  return conductProgram(open, open.environment, planOf(open, { harness, screen, launch, prompt, input }));
};

type Screen = {
  readonly harness: Harness;
  readonly screen: HarnessScreen;
  readonly launch: ScreenLaunch;
  readonly prompt: string;
  readonly input: string | null;
};

const planOf = (open: OpenAttempt, { harness, screen, launch, prompt, input }: Screen): ProgramPlan<null> => {
  const { environment, prepared, attempt } = open;
  const spec = (runId: string): RunSpec => screenSpec(open, { launch, harness, runId, input });
  let consumer: ScreenConsumer | null = null;
  return {
    stage: name,
    round: 1,
    describe: (runId) => environment.describe(spec(runId)),
    start: (runId) => environment.start(spec(runId)),
    input: null,
    closeInput: 'after-input',
    opening: prompt === '' ? [] : [{ kind: 'user', text: shownPrompt(prompt) }],
    announce: (terminal) => [{ kind: 'terminal.opened', attempt: attempt.number, environmentId: environment.id, terminal }],
    consumer: (from) => {
      consumer = screenConsumer(screen, from, prompt !== '');
      return consumer;
    },
    show: ({ row, handle, needed }) =>
      open.parts.openScreen({
        id: row.id,
        environmentIds: [environment.id, ...(prepared.named === undefined ? [] : [prepared.named])],
        directory: environmentDirectory(open),
        command: [harness.id],
        startedAtMs: row.started_at,
        size: SIZE,
        handle,
        needed,
        onInput: () => consumer?.answered(),
      }),
  };
};

const screenSpec = (
  open: OpenAttempt,
  { launch, harness, runId, input }: Pick<Screen, 'launch' | 'harness' | 'input'> & { readonly runId: string },
): RunSpec => {
  const { settings } = open.prepared;
  checkGoing(open);
  const spec = agentSpec(open, launch, { round: 1, input, file: null });
  return {
    ...spec,
    env: { ...spec.env, TERM: 'xterm-256color', COLORTERM: 'truecolor' },
    stdio: 'pty',
    terminal: SIZE,
    // A person thinks as long as a person does: only the time of the whole attempt counts.
    limits: limitsOf(settings, remainingMs(open, settings)),
    label: `${harness.id} full screen`,
    runId,
  };
};
