import { join } from 'node:path';
import { OrreryError, toOrreryError, type AgentView, type PermissionMode, type SessionCreate } from '@orrery/protocol';
import type { Attached } from '../attached/index.ts';
import { wishOf } from '../agent/index.ts';
import { covers } from '../config/egress-cover.ts';
import { imageAsked, namedById, type EnvironmentConductor, type Environments, type NamedRow } from '../environment/index.ts';
import { countOpen, createInteractions, removeInteractions, type Interactions } from '../interaction/index.ts';
import { splitModel } from '../harness/model-name.ts';
import {
  attachmentBytes,
  createCatalogues,
  createLiveTexts,
  createSessionHistory,
  createSessionReview,
  createTakeBack,
  createSessions,
  findSession,
  goOnIn,
  sweepAttachments,
  type LiveTexts,
  type SessionConductor,
  type SessionHistory,
  type SessionReview,
  type Sessions,
} from '../session/index.ts';
import { needsProgram, notInstalled } from '../harness/program.ts';
import { clock, ids, type Parts } from './parts.ts';
import { preparedOf } from '../run/environments/place.ts';
import { accountLimit } from '../run/account-limits.ts';
import { dropConversation } from '../run/conversation.ts';
import { createSessionsConductor, dropRefs, type SessionsConductor } from '../run/sessions/index.ts';
import type { ConductorParts } from '../run/doors.ts';
import { SESSION_IDLE_MS } from '../kernel/limits.ts';
import type { Policies } from '../policy/index.ts';
import { openPolicies } from './policies.ts';
import { chosenProgram, fittingAgent, openAgents, smaller } from './agents.ts';
import { branchPlace, placeFor, refuseBeside } from './session-places.ts';
import { isScripted } from './scripted.ts';
import { checkTakesImage, settleRequest } from './settle-request.ts';

/** Everything about sessions. */
export type Talking = {
  readonly sessions: Sessions;
  readonly history: SessionHistory;
  readonly review: SessionReview;
  readonly interactions: Interactions;
  readonly policies: Policies;
  readonly talking: SessionsConductor;
  readonly liveTexts: LiveTexts;
  readonly takeBack: ReturnType<typeof createTakeBack>;
};

/** Sessions, what they ask, and who conducts them, on the slices that are really there. */
export const openTalking = (
  parts: Parts,
  given: {
    readonly running: ConductorParts & { readonly environments: EnvironmentConductor };
    readonly environments: Environments;
    readonly attached: Pick<Attached, 'refuse'>;
    readonly checkRoom: () => void;
    readonly wakeTasks: () => void;
  },
): Talking => {
  const interactions = openInteractions(parts, (id) => talking.wake(id));
  const liveTexts = createLiveTexts({ store: parts.store, clock });
  const policies = openPolicies(parts, () => interactions);
  const talking: SessionsConductor = createSessionsConductor({
    ...given.running,
    interactions,
    policies,
    liveTexts,
    wakeTasks: given.wakeTasks,
    attachmentBytes: (id) => attachmentBytes(attachmentsDirectory(parts), id),
    sessions: {
      idleMs: SESSION_IDLE_MS,
      interactionMs: () => {
        const { answerSeconds } = parts.config.current().sessions;
        return answerSeconds === null ? null : answerSeconds * 1000;
      },
      titleModel: () => parts.config.current().sessions.titleModel,
    },
  });
  const conductor = (): SessionConductor => talking;
  const sessions = openSessions(parts, { ...given, conductor, changedFiles: (id) => changedFiles(review, id) });
  const review: SessionReview = createSessionReview({ ...parts, sessions, conductor, mirrorOf: parts.workspace.mirrorOf });
  const history = openHistory(parts, { sessions, environments: given.environments, conductor });
  const { mirrorOf } = parts.workspace;
  return {
    ...{ interactions, policies, talking, liveTexts, sessions, history, review },
    takeBack: createTakeBack({ ...parts, clock, ids, sessions, review, history, mirrorOf, conductor }),
  };
};

/** Changed files as a record of a conversation names them. */
const changedFiles = async (review: SessionReview, id: string): Promise<string[]> => {
  try {
    const { files, filesChanged } = await review.changes(id, null);
    const more = filesChanged > files.length ? [`… ${filesChanged - files.length} more`] : [];
    return [...files.map(({ status, path }) => `${status} ${path}`), ...more];
  } catch (thrown) {
    return [`not known: ${toOrreryError(thrown).message}`];
  }
};

/** What they do as a whole. */
const openHistory = (
  parts: Parts,
  given: { readonly sessions: Sessions; readonly environments: Environments; readonly conductor: () => SessionConductor },
): SessionHistory =>
  createSessionHistory({
    store: parts.store,
    clock,
    sessions: given.sessions,
    canRewind: (harness) => parts.harnesses.get(harness).session?.capabilities.rewind ?? 'replaced',
    conductor: given.conductor,
    unsavedIn: given.environments.unsaved,
    removeAsked: (tx, id) => removeInteractions(tx.db, id),
    dropCheckpoints: (rows) => dropRefs(parts, rows),
    dropConversation: (id) => dropConversation(parts.conversationsDirectory, id),
    attachments: attachmentsDirectory(parts),
  });

/** Files that people gave to sessions. */
const attachmentsDirectory = ({ paths }: Pick<Parts, 'paths'>): string => join(paths.data, 'attachments');

/** Removes those that nobody names. */
export const sweepOrphans = (parts: Parts): Promise<number> =>
  sweepAttachments({ store: parts.store, clock, attachments: attachmentsDirectory(parts) });

const NOTHING = { images: false, files: false, compaction: false, models: false, effort: false };
const abilitiesOf = ({ harnesses }: Parts, harness: string) => harnesses.get(harness).session?.capabilities ?? NOTHING;

/** What programs reported of themselves. */
export const openCatalogues = ({ store, harnesses }: Parts) =>
  createCatalogues({
    store,
    harness: (id) => {
      const { provider, pin } = harnesses.get(id);
      return { id, provider, version: pin?.version ?? null };
    },
    split: splitModel,
  });

/** What waits for people. */
const openInteractions = (parts: Parts, wake: (sessionId: string) => void): Interactions =>
  createInteractions({
    store: parts.store,
    clock,
    sessionNames: async (sessionIds) => {
      const rows = await Promise.all(sessionIds.map((id) => findSession(parts.store.read, id)));
      return new Map(rows.flatMap((row) => (row === null ? [] : [[row.id, row.name] as const])));
    },
    goOn: (tx, id, mode) => goOnIn(tx, id, { mode, nowMs: clock.nowMs() }),
    wake,
  });

/** The use cases of sessions. */
const openSessions = (
  parts: Parts,
  given: {
    readonly environments: Environments;
    readonly attached: Pick<Attached, 'refuse'>;
    readonly checkRoom: () => void;
    readonly conductor: () => SessionConductor;
    readonly changedFiles: (sessionId: string) => Promise<readonly string[]>;
  },
): Sessions => {
  const { store, projects } = parts;
  return createSessions({
    store,
    clock,
    ids,
    admit: (asked) => admit(parts, given.environments, asked),
    checkMode: (harness, mode) => checkMode(parts, harness, mode),
    abilities: (harness) => abilitiesOf(parts, harness),
    checkModel: (harness, model) => parts.harnesses.get(harness).session?.checkModel?.(model),
    attachments: attachmentsDirectory(parts),
    canSteer: (harness) => parts.harnesses.get(harness).session?.capabilities.steer ?? false,
    place: (asked, made) => placeFor(given.environments, asked, made),
    branchPlace: (environmentId) => branchPlace(given.environments, environmentId),
    forkOf: (harness) => parts.harnesses.get(harness).session?.capabilities.fork ?? 'record',
    refuseAttached: given.attached.refuse,
    resolveProject: projects.resolve,
    projectsById: projects.byIds,
    environmentsById: async (environmentIds) => {
      const rows = await Promise.all(environmentIds.map((id) => namedById(store.read, id)));
      return new Map(
        rows.flatMap((row) =>
          row === null || row.deleted_at !== null
            ? []
            : [[row.id, { id: row.id, name: row.name, backend: row.backend, state: row.state }] as const],
        ),
      );
    },
    openInteractions: (sessionId) => countOpen(store.read, sessionId),
    accountLimit: (session) => accountLimit({ store, clock, harness: parts.harnesses.get }, session),
    changedFiles: given.changedFiles,
    usageOf: (sessionId) => parts.usage.ofTask(sessionId),
    setBudget: parts.broker.tokens.setBudget,
    budgetTold: parts.broker.tokens.changed,
    checkRoom: given.checkRoom,
    conductor: given.conductor,
  });
};

/** Harness, model and effort: asked for, else the project's, else the operator's; refused before anything is made. */
const admit = async (parts: Parts, environments: Environments, asked: SessionCreate) => {
  if ((asked.project === undefined) === (asked.environment === undefined))
    throw new OrreryError('invalid_input', 'A session needs a project or an environment, and not both.', {
      rule: 'In an environment that is there, its project is known; else one is made for the session.',
      fix: 'orrery session start --project PATH',
    });
  const row = asked.environment === undefined ? null : await environments.find(asked.environment);
  if (row !== null) refuseBeside(asked, row);
  const projectId = row === null ? (await parts.projects.resolve(asked.project ?? '')).id : row.project_id;
  const commit = await parts.projects.resolveBase(projectId, asked.base ?? null);
  const { settings } = await parts.projects.readHooks(projectId, commit);
  const at = { project: projectId, commit };
  const agent = asked.agent === undefined ? null : await openAgents(parts).find(asked.agent, at);
  const wish = agent === null ? null : wishOf(agent, { mode: asked.mode ?? null });
  const egress = wish?.egress ?? [];
  if (agent !== null && row !== null) refuseOtherWalls(agent, row);
  const request = {
    ...(egress.length === 0 ? {} : { egress: [...egress] }),
    ...chosenProgram(asked, wish),
    ...(asked.backend === undefined ? {} : { backend: asked.backend }),
    ...(row !== null ? imageAsked(row) : asked.image === undefined ? {} : { image: asked.image }),
  };
  const settled = await settleRequest(parts, { request, projectId, projectFile: settings });
  if (asked.image !== undefined) checkTakesImage(parts.backends.get(settled.backend), asked.image);
  const harness = parts.harnesses.get(settled.harness);
  if (harness.session === null) throw holdsNone(parts, harness.id);
  const kept = agent === null ? null : await fittingAgent(parts, agent, { harness, at });
  const mode = asked.mode ?? wish?.mode ?? 'ask';
  checkMode(parts, harness.id, mode);
  if (needsProgram(harness) && (await parts.programs.installed(harness.id)) === null) throw notInstalled(harness);
  if (isScripted(settled.model)) await parts.scripted.start();
  const { sessions } = parts.config.current();
  return {
    ...{ harness: harness.id, model: settled.model, effort: settled.effort, mode, agent: kept, egress },
    unattended: asked.unattended ?? wish?.unattended ?? 'wait',
    budget_usd: smaller(asked.budgetUsd === undefined ? sessions.budgetUsd : asked.budgetUsd, wish?.budgetUsd ?? null),
    max_turns: asked.maxTurns === undefined ? sessions.maxTurns : asked.maxTurns,
  };
};

/** An environment that is there has its walls, whoever else works in it: they are not changed for one agent. */
const refuseOtherWalls = ({ name, egress }: AgentView, row: NamedRow): void => {
  const open = preparedOf(row)?.settings.egress ?? [];
  const missing = egress.filter((rule) => !open.some((given) => covers(given, rule)));
  if (missing.length === 0) return;
  throw new OrreryError(
    'unsupported',
    `The agent ${name} is to reach ${missing.join(', ')}; the environment ${row.name} does not.`,
    {
      rule: 'An agent is never run with other walls than its file says; an environment that is made for it has them.',
      fix: `orrery session start --agent ${name}`,
    },
  );
};

/** A program that cannot ask first is not told to: what was wanted is refused, never loosened in silence. */
const checkMode = (parts: Parts, harness: string, mode: PermissionMode): void => {
  const modes = parts.harnesses.get(harness).session?.capabilities.modes ?? [];
  if (modes.includes(mode)) return;
  throw new OrreryError('unsupported', `${harness} cannot work in the mode "${mode}".`, {
    rule: `It can: ${modes.join(', ')}. The walls of its environment hold in each.`,
    fix: `orrery session start --harness ${harness} --mode ${modes[0] ?? 'all'}`,
  });
};

const holdsNone = (parts: Parts, id: string): OrreryError => {
  const able = parts.harnesses.list.filter(({ session }) => session !== null).map((harness) => harness.id);
  return new OrreryError('unsupported', `The harness ${id} holds no conversations.`, {
    rule: `Those that do: ${able.join(', ')}.`,
    fix: `orrery session start --harness ${able[0] ?? 'claude'}`,
  });
};
