// How an agent program is started, for a turn or with its full screen.

import type { Environment, RunSpec } from '../../exec/backend.ts';
import { proxySecretNames } from '../../exec/proxy-environment.ts';
import type { Harness, ScreenLaunch, TurnContext } from '../../harness/harness.ts';
import { needsProgram, notInstalled } from '../../harness/program.ts';
import { unheard } from '../../agent/index.ts';
import { keptAgent } from '../../store/kept-agent.ts';
import { openAttempt } from '../../task/index.ts';
import type { OpenAttempt } from '../attempt-context.ts';
import { keptTools } from '../kept-tools.ts';
import { givenServers } from '../mcp.ts';
import { offerSkills } from '../skills.ts';
import { memoryNote } from '../memory.ts';
import { goalNote } from './goal.ts';
import { taskEnvironment } from './hook.ts';
import { outputNote } from './output.ts';

/** How much of a prompt the log shows; the whole of it is with the task. */
const shownPromptChars = 100_000;

/** A prompt as the log shows it. */
export const shownPrompt = (prompt: string): string =>
  prompt.length <= shownPromptChars
    ? prompt
    : `${prompt.slice(0, shownPromptChars)}\n… ${prompt.length - shownPromptChars} characters more`;

/** Carries the input of the task in; answers its path inside, or null when it has none. */
export const provideInput = async ({ intent, environment, attempt }: OpenAttempt): Promise<string | null> =>
  intent.input === undefined
    ? null
    : environment.provide(`input-${attempt.id}.json`, new TextEncoder().encode(JSON.stringify(intent.input)));

/** The first prompt: what was asked, and what an agent has to know of its input and its answer. */
export const openingPrompt = ({ intent }: OpenAttempt, prompt: string, input: string | null): string =>
  [
    prompt,
    goalNote(intent.goal),
    input === null ? null : `The input of this task is the JSON file ${input}.`,
    outputNote(intent.outputSchema),
  ]
    .filter((part) => part !== null)
    .join('\n\n');

/** What an agent is told beside its prompt: who it is, and what it remembers. */
const noteOf = ({ prepared, intent, task }: OpenAttempt): string | null => {
  const memory = memoryNote(
    prepared.settings.memory.filter((kind) => kind !== 'project' || task.project_id !== null),
    intent,
  );
  const told = [agentWords(task), memory].filter((part) => part !== null);
  return told.length === 0 ? null : told.join('\n\n');
};

const agentWords = (task: OpenAttempt['task']): string | null => {
  const words = keptAgent(task)?.prompt ?? '';
  return words === '' ? null : words;
};

/** Another program than was asked for may have been named by the project since. */
const refuseUnheard = ({ task }: OpenAttempt, harness: Harness): void => {
  const agent = keptAgent(task);
  if (agent !== null && agent.prompt !== '' && !harness.capabilities.systemPrompt) throw unheard(agent, harness.id);
};

/** What the adapter is told. @throws OrreryError harness_not_installed */
export const turnContext = async (open: OpenAttempt, harness: Harness, prompt: string): Promise<TurnContext> => {
  const { parts, prepared, environment } = open;
  const program = needsProgram(harness) ? await parts.program(harness.id) : null;
  if (needsProgram(harness) && program === null) throw notInstalled(harness);
  refuseUnheard(open, harness);
  const attempt = await openAttempt(parts.store.read, open.task.id);
  return {
    program,
    prompt,
    conversation: attempt?.conversation ?? prepared.continued?.conversation ?? null,
    model: (prepared.settings.upstream === null ? prepared.settings.model : null) ?? harness.defaultModel,
    effort: prepared.settings.effort,
    workdir: environment.workdir,
    home: environment.home,
    scratchpad: environment.scratchpad,
    brokerEndpoint: environment.brokerEndpoint,
    modelQuietMs: parts.modelQuietMs(),
    tokenFile: open.runTokenFile,
    systemPrompt: harness.capabilities.systemPrompt ? noteOf(open) : null,
    tools: keptTools(harness, open.task),
    mcp: givenServers(harness, open.task, environment),
    skills: await offerSkills(parts, { harness, row: open.task, environment, owner: open.attempt.id }),
    command: open.intent.command ?? null,
    asRoot: parts.asRoot,
    name: open.attempt.id,
    memory: taskEnvironment(open, 1)['ORRERY_MEMORY'] ?? null,
  };
};

/** Writes what the program reads from its home. */
export const writeHomeFiles = async ({ environment }: OpenAttempt, launch: ScreenLaunch): Promise<void> => {
  for (const [path, content] of Object.entries(launch.homeFiles)) await environment.writeHomeFile(path, content);
};

/** A file that only this program may read: where it is inside, and the variable that says so. */
export type LaunchFile = { readonly path: string; readonly variable: string };

/** Carries the launch's own file in; null: it has none. */
export const provideFile = async (
  environment: Environment,
  { file }: Pick<ScreenLaunch, 'file'>,
  runToken: string,
): Promise<LaunchFile | null> =>
  file === undefined
    ? null
    : {
        path: await environment.provide(file.name, new TextEncoder().encode(file.content(runToken))),
        variable: file.variable,
      };

/** What of a program's start names its own file. */
export const fileSpec = (file: LaunchFile | null): { readonly grants: RunSpec['grants']; readonly env: Record<string, string> } =>
  file === null
    ? { grants: [], env: {} }
    : {
        grants: [{ path: file.path, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true }],
        env: { [file.variable]: file.path },
      };

/** What is the same for both: the program, its run token, and the variables of the task. */
export const agentSpec = (
  open: OpenAttempt,
  launch: ScreenLaunch,
  { round, input, file }: { readonly round: number; readonly input: string | null; readonly file: LaunchFile | null },
): Omit<RunSpec, 'stdio' | 'limits' | 'label' | 'runId'> => ({
  command: launch.command,
  args: launch.args,
  cwd: open.environment.workdir,
  grants: [
    ...(input === null ? [] : [{ path: input, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true } as const]),
    ...fileSpec(file).grants,
    { path: open.runTokenFile, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true },
    ...launch.programPaths.map(
      (path) => ({ path, access: 'rox', scope: 'absolute', provenance: 'orrery', required: true }) as const,
    ),
  ],
  env: {
    ...taskEnvironment(open, round),
    ...(input === null ? {} : { ORRERY_INPUT: input }),
    ...launch.env,
    ...fileSpec(file).env,
  },
  secretNames: proxySecretNames,
  envPassthrough: ['LANG', 'LC_ALL', 'TZ'],
});
