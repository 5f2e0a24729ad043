import { OrreryError, type StageName } from '@orrery/protocol';
import type { RunSpec } from '../../exec/backend.ts';
import { proxySecretNames } from '../../exec/proxy-environment.ts';
import type { GatewayFailure, Harness, TurnLaunch, TurnOutcome } from '../../harness/harness.ts';
import { type Ending, openAttempt } from '../../task/index.ts';
import { beginStage, checkGoing, endStage, remainingMs, type OpenAttempt } from '../attempt-context.ts';
import { endingOfRun, endingOfTurn } from '../ending.ts';
import { memoryNote } from '../memory.ts';
import { conductProgram, type ProgramEnd } from '../program.ts';
import { turnConsumer } from '../turn-consumer.ts';
import { taskEnvironment } from './hook.ts';
import { outputNote } from './output.ts';
import { limitsOf } from '../attempt-settings.ts';

const name: StageName = 'drive';

/** How much of a prompt the log shows; the whole of it is with the task. */
const shownPromptChars = 100_000;

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
  const harness = open.parts.harness(open.prepared.settings.harness);
  const input = await provideInput(open);
  const prompt = round === 1 ? opening(open, given, input) : given;
  const launch = await prepareTurn(open, harness, prompt);
  const sinceMs = open.parts.clock.nowMs();
  const spec = (runId: string): RunSpec => turnSpec(open, { launch, harness, round, runId, input });
  const gatewayFailure = (): GatewayFailure | null => open.parts.gatewayFailure(open.environment.id, sinceMs);
  const ended = await conductProgram(open, open.environment, {
    stage: name,
    round,
    describe: (runId) => open.environment.describe(spec(runId)),
    start: (runId) => open.environment.start(spec(runId)),
    input: launch.input,
    closeInput: launch.closeInput,
    opening: [
      {
        kind: 'user',
        text:
          prompt.length <= shownPromptChars
            ? prompt
            : `${prompt.slice(0, shownPromptChars)}\n… ${prompt.length - shownPromptChars} characters more`,
      },
    ],
    consumer: (from) =>
      turnConsumer(harness, from, {
        cancelled: () => open.cancelled.aborted,
        gatewayFailure,
      }),
  });
  return { ...ended, gateway: gatewayFailure() };
};

/** Carries the input of the task in; answers its path inside, or null when it has none. */
const provideInput = async ({ intent, environment, attempt }: OpenAttempt): Promise<string | null> =>
  intent.input === undefined
    ? null
    : environment.provide(`input-${attempt.id}.json`, new TextEncoder().encode(JSON.stringify(intent.input)));

/** The first prompt: what was asked, and what an agent has to know of its input and its answer. */
const opening = ({ intent }: OpenAttempt, prompt: string, input: string | null): string =>
  [prompt, input === null ? null : `The input of this task is the JSON file ${input}.`, outputNote(intent.outputSchema)]
    .filter((part) => part !== null)
    .join('\n\n');

const prepareTurn = async (open: OpenAttempt, harness: Harness, prompt: string): Promise<TurnLaunch> => {
  const { parts, prepared, environment } = open;
  const program = harness.pin === null ? null : await parts.program(harness.id);
  if (harness.pin !== null && program === null) {
    throw new OrreryError('harness_not_installed', `The program of harness ${harness.id} is not installed.`, {
      rule: 'Agent programs are installed once, in a pinned version, below the data directory.',
      fix: `orrery harness install ${harness.id}`,
    });
  }
  const attempt = await openAttempt(parts.store.read, open.task.id);
  const launch = harness.launch({
    program,
    prompt,
    conversation: attempt?.conversation ?? prepared.continued?.conversation ?? null,
    model: (prepared.settings.upstream === null ? prepared.settings.model : null) ?? harness.defaultModel,
    effort: prepared.settings.effort,
    workdir: environment.workdir,
    home: environment.home,
    scratchpad: environment.scratchpad,
    brokerEndpoint: environment.brokerEndpoint,
    tokenFile: open.runTokenFile,
    systemPrompt: harness.capabilities.systemPrompt ? noteOf(open) : null,
    command: open.intent.command ?? null,
    asRoot: parts.asRoot,
  });
  for (const [path, content] of Object.entries(launch.homeFiles)) await environment.writeHomeFile(path, content);
  return launch;
};

/** What every agent is told beside its prompt. */
const noteOf = ({ prepared, intent, task }: OpenAttempt): string | null =>
  memoryNote(
    prepared.settings.memory.filter((kind) => kind !== 'project' || task.project_id !== null),
    intent,
  );

const turnSpec = (
  open: OpenAttempt,
  turn: {
    readonly launch: TurnLaunch;
    readonly harness: Harness;
    readonly round: number;
    readonly runId: string;
    readonly input: string | null;
  },
): RunSpec => {
  const { launch, harness, round, runId, input } = turn;
  const { settings } = open.prepared;
  checkGoing(open);
  return {
    command: launch.command,
    args: launch.args,
    cwd: open.environment.workdir,
    grants: [
      ...(input === null
        ? []
        : [{ path: input, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true } as const]),
      { path: open.runTokenFile, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true },
      ...launch.programPaths.map(
        (path) => ({ path, access: 'rox', scope: 'absolute', provenance: 'orrery', required: true }) as const,
      ),
    ],
    env: { ...taskEnvironment(open, round), ...(input === null ? {} : { ORRERY_INPUT: input }), ...launch.env },
    secretNames: proxySecretNames,
    envPassthrough: ['LANG', 'LC_ALL', 'TZ'],
    stdio: 'stream',
    limits: limitsOf(settings, Math.min(settings.turnMs, remainingMs(open, settings))),
    label: `${harness.id} turn ${round}`,
    runId,
  };
};
