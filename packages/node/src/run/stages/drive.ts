import type { StageName } from '@orrery/protocol';
import type { RunSpec } from '../../exec/backend.ts';
import type { GatewayFailure, Harness, TurnLaunch, TurnOutcome } from '../../harness/harness.ts';
import type { Ending } from '../../task/index.ts';
import { beginStage, checkGoing, endStage, remainingMs, type OpenAttempt } from '../attempt-context.ts';
import { endingOfRun, endingOfTurn } from '../ending.ts';
import { conductProgram, type ProgramEnd } from '../program.ts';
import { turnBegins, turnConsumer } from '../turn-consumer.ts';
import {
  agentSpec,
  openingPrompt,
  provideFile,
  provideInput,
  shownPrompt,
  turnContext,
  writeHomeFiles,
  type LaunchFile,
} from './agent-spec.ts';
import { refuseOrders } from '../orders.ts';
import { limitsOf } from '../attempt-settings.ts';

const name: StageName = 'drive';

/** One turn of the agent. Answers null when it ended well, else how the attempt ends. */
export const drive = async (open: OpenAttempt, round: number, prompt: string): Promise<Ending | null> => {
  const row = await beginStage(open, name, round);
  const turn = await conductTurn(open, round, prompt);
  const { end } = turn;
  // What was done is here from now on, whatever becomes of the place it was done in.
  await open.environment.sync();
  const ending = await endingFor(open, turn);
  const timedOut = end.limit === 'wall';
  endStage(open, row, {
    state:
      ending === null
        ? 'passed'
        : timedOut
          ? 'timeout'
          : ending.verdict === 'interrupted' || ending.verdict === 'cancelled'
            ? 'interrupted'
            : 'failed',
    exitCode: end.exitCode,
    note: ending?.reason ?? null,
    output: null,
  });
  return ending;
};

/** `gateway`: what the newest model call of the turn failed with, as the broker saw it. */
type EndedTurn = ProgramEnd<TurnOutcome> & { readonly gateway: GatewayFailure | null };

const endingFor = async (open: OpenAttempt, { end, outcome, gateway }: EndedTurn): Promise<Ending | null> => {
  checkGoing(open);
  const byRun = endingOfRun(end, 'The agent');
  if (byRun !== null) return byRun;
  const budgetRefused = outcome.outcome !== 'success' && open.parts.budgetRefused(open.task.id);
  return endingOfTurn(outcome, { budgetRefused, gateway });
};

const conductTurn = async (open: OpenAttempt, round: number, given: string): Promise<EndedTurn> => {
  const { prepared } = open;
  const harness = open.parts.harness(prepared.settings.harness);
  const input = await provideInput(open);
  const prompt = round === 1 ? openingPrompt(open, given, input) : given;
  const launch = await prepareTurn(open, harness, prompt);
  const file = await provideFile(open.environment, launch, open.runToken);
  const sinceMs = open.parts.clock.nowMs();
  open.parts.forgetFailure(open.environment.id);
  const spec = (runId: string): RunSpec => turnSpec(open, { launch, harness, round, runId, input, file });
  const gatewayFailure = (): GatewayFailure | null => open.parts.gatewayFailure(open.environment.id, sinceMs);
  const ended = await conductProgram(open, open.environment, {
    stage: name,
    round,
    describe: (runId) => open.environment.describe(spec(runId)),
    start: async (runId) => {
      // What its hooks left is there now; in later rounds it is the agent's own work.
      if (round === 1)
        await refuseOrders(open.parts, { harness, projectId: open.task.project_id, checkout: prepared.place.path });
      return open.environment.start(spec(runId));
    },
    input: launch.input,
    closeInput: launch.closeInput,
    begins: turnBegins(launch),
    opening: [{ kind: 'user', text: shownPrompt(prompt) }],
    consumer: (from) =>
      turnConsumer(harness, from, {
        cancelled: () => open.cancelled.aborted,
        gatewayFailure,
      }),
  });
  return { ...ended, gateway: gatewayFailure() };
};

const prepareTurn = async (open: OpenAttempt, harness: Harness, prompt: string): Promise<TurnLaunch> => {
  const launch = harness.launch(await turnContext(open, harness, prompt));
  await writeHomeFiles(open, launch);
  return launch;
};

const turnSpec = (
  open: OpenAttempt,
  turn: {
    readonly launch: TurnLaunch;
    readonly harness: Harness;
    readonly round: number;
    readonly runId: string;
    readonly input: string | null;
    readonly file: LaunchFile | null;
  },
): RunSpec => {
  const { launch, harness, round, runId, input, file } = turn;
  const { settings } = open.prepared;
  checkGoing(open);
  return {
    ...agentSpec(open, launch, { round, input, file }),
    // One that is told by a file alone finds an empty stdin.
    stdio: launch.input === null && launch.closeInput === 'after-input' ? 'piped' : 'stream',
    limits: limitsOf(settings, Math.min(settings.turnMs, remainingMs(open, settings))),
    label: `${harness.id} turn ${round}`,
    runId,
  };
};
