// What a session's program is started with.

import type { Branch } from '../../harness/dialogue.ts';
import { readFile } from 'node:fs/promises';
import type { PermissionMode } from '@orrery/protocol';
import { imageAsked, type NamedRow } from '../../environment/index.ts';
import type { Environment, RunSpec } from '../../exec/backend.ts';
import { proxyEnvironment, proxySecretNames } from '../../exec/proxy-environment.ts';
import type { InstalledProgram, SessionAdapter, SessionContext, SessionLaunch } from '../../harness/harness.ts';
import { needsProgram } from '../../harness/program.ts';
import { SESSION_OUTPUT_BYTES, SESSION_PROGRAM_MS } from '../../kernel/limits.ts';
import type { SessionRow } from '../../session/index.ts';
import { limitsOf } from '../attempt-settings.ts';
import type { AttemptSettings } from '../doors.ts';
import { placePaths, preparedOf } from '../environments/place.ts';
import { memoryVariables } from '../memory.ts';
import { keptTools } from '../kept-tools.ts';
import { givenServers, grantedServers } from '../mcp.ts';
import { offerSkills } from '../skills.ts';
import { fileSpec, provideFile, type LaunchFile } from '../stages/agent-spec.ts';
import type { SessionConductorParts } from './context.ts';
import { toldOf } from './told.ts';

/** Where it begins a conversation of its own, if it has none. */
export const branchOf = ({ conversation, branch }: SessionRow): Branch | null =>
  conversation !== null || branch === null ? null : (JSON.parse(branch) as Branch);

/** The settings that hold for a session's program: its own, the project's, the operator's. */
export const settingsOf = async (parts: SessionConductorParts, session: SessionRow, row: NamedRow): Promise<AttemptSettings> => {
  const prepared = preparedOf(row);
  const { projectFile } =
    prepared === null ? { projectFile: null } : await parts.projects.readHooks(row.project_id, prepared.baseSha);
  const { harness, model, effort } = session;
  const intent = {
    prompt: session.name,
    project: row.project_id,
    backend: row.backend,
    ...imageAsked(row),
    harness,
    ...(model === null ? {} : { model }),
    ...(effort === null ? {} : { effort }),
    readOnly: false,
    priority: 0,
  };
  return parts.settle({ intent, projectId: row.project_id, projectFile });
};

type Launching = {
  readonly session: SessionRow;
  readonly adapter: SessionAdapter;
  readonly settings: AttemptSettings;
  readonly runId: string;
  readonly row: NamedRow;
  readonly environment: Environment;
  /** The prompt of a program that is started for each turn; null for every other. */
  readonly turnPrompt: string | null;
};

/** What was carried in for its program before it starts. */
type CarriedIn = {
  readonly program: InstalledProgram | null;
  readonly tokenFile: string;
  readonly skills: string | null;
};

/** What its adapter is told. */
const contextOf = (parts: SessionConductorParts, given: Launching & CarriedIn): SessionContext => {
  const { session, settings, environment, row, program, tokenFile, skills } = given;
  const harness = parts.harness(session.harness);
  return {
    program,
    conversation: session.conversation,
    branch: branchOf(session),
    model: (settings.upstream === null ? settings.model : null) ?? harness.defaultModel,
    effort: settings.effort,
    workdir: environment.workdir,
    home: environment.home,
    scratchpad: environment.scratchpad,
    brokerEndpoint: environment.brokerEndpoint,
    modelQuietMs: parts.modelQuietMs(),
    tokenFile,
    systemPrompt: harness.capabilities.systemPrompt ? toldOf(session, preparedOf(row)?.settings.memory ?? []) : null,
    tools: keptTools(harness, session),
    skills,
    mcp: givenServers(harness, session, environment),
    asRoot: parts.asRoot,
    mode: session.mode as PermissionMode,
    name: session.id,
    memory: memoryVariables(placePaths(parts, row.id).directory, preparedOf(row)?.settings.memory ?? [])['ORRERY_MEMORY'] ?? null,
    ...(given.turnPrompt === null ? {} : { turnPrompt: given.turnPrompt }),
  };
};

/** What is run; what it reads is carried in. */
export const launchSpec = async (parts: SessionConductorParts, given: Launching): Promise<RunSpec> => {
  const { session, adapter, settings, runId, environment, row } = given;
  const harness = parts.harness(session.harness);
  const program = needsProgram(harness) ? await parts.program(harness.id) : null;
  const tokens = await parts.tokens.mint({
    environmentId: session.id,
    taskId: session.id,
    upstream: settings.upstream,
    harness: harness.id,
    budgetUsd: session.budget_usd,
    egress: [],
    mcp: grantedServers(session),
  });
  const tokenFile = await environment.provide(`run-token-${session.id}`, new TextEncoder().encode(tokens.run));
  const skills = await offerSkills(parts, { harness, row: session, environment, owner: session.id });
  const launch = adapter.launch(contextOf(parts, { ...given, program, tokenFile, skills }));
  const file = await provideFile(environment, launch, tokens.run);
  for (const [path, content] of Object.entries(launch.homeFiles)) await environment.writeHomeFile(path, content);
  const egressToken = await readFile(placePaths(parts, row.id).egressToken, 'utf8');
  return specOf(parts, {
    launch,
    session,
    settings,
    runId,
    row,
    environment,
    tokenFile,
    egressToken,
    file,
    turnPrompt: given.turnPrompt,
  });
};

const specOf = (
  parts: SessionConductorParts,
  given: Omit<Launching, 'adapter'> & {
    readonly launch: SessionLaunch;
    readonly tokenFile: string;
    readonly egressToken: string;
    readonly file: LaunchFile | null;
  },
): RunSpec => {
  const { launch, session, settings, runId, environment, tokenFile } = given;
  return {
    command: launch.command,
    args: launch.args,
    cwd: environment.workdir,
    grants: [
      ...fileSpec(given.file).grants,
      { path: tokenFile, access: 'ro', scope: 'absolute', provenance: 'orrery', required: true },
      ...launch.programPaths.map(
        (path) => ({ path, access: 'rox', scope: 'absolute', provenance: 'orrery', required: true }) as const,
      ),
    ],
    env: { ...variablesOf(parts, given), ...launch.env, ...fileSpec(given.file).env },
    secretNames: proxySecretNames,
    envPassthrough: ['LANG', 'LC_ALL', 'TZ'],
    stdio: given.turnPrompt === null ? 'stream' : 'piped',
    limits: { ...limitsOf(settings, SESSION_PROGRAM_MS), outputBytes: SESSION_OUTPUT_BYTES },
    label: `session ${session.name}`,
    runId,
  };
};

/** Variables of a session's program, beside its own. */
const variablesOf = (
  parts: SessionConductorParts,
  {
    session,
    row,
    environment,
    egressToken,
  }: Pick<Launching, 'session' | 'row' | 'environment'> & { readonly egressToken: string },
): Record<string, string> => {
  const prepared = preparedOf(row);
  return {
    ORRERY_SESSION: session.id,
    ORRERY_ENVIRONMENT: row.id,
    ORRERY_PROJECT: row.project_id,
    ORRERY_BASE: prepared?.baseSha ?? '',
    ORRERY_BRANCH: row.branch,
    ORRERY_WORKDIR: environment.workdir,
    ORRERY_SCRATCHPAD: environment.scratchpad,
    ...memoryVariables(placePaths(parts, row.id).directory, prepared?.settings.memory ?? []),
    ...proxyEnvironment(environment.brokerEndpoint, egressToken),
  };
};
