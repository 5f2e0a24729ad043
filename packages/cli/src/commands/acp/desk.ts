// The sessions of one editor: begun, loaded, listed and left.
import { posix } from 'node:path';
import type { AgentContext, ListSessionsResponse } from '@agentclientprotocol/sdk';
import type { HarnessView, SessionCreate, SessionView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import { allProjects, repositoryRoot } from '../../names.ts';
import { acpLimits } from './limits.ts';
import type { Link } from '../../patient-link.ts';
import { placeOf } from './place.ts';
import { refused } from './refusal.ts';
import { settingsOf, settingsUpdates, type Settings } from './settings.ts';
import { createTalk, type Talk } from './talk.ts';

/** What the command line said that sessions begin with. */
export type Beginning = Partial<Pick<SessionCreate, 'agent' | 'harness' | 'model' | 'effort' | 'mode' | 'backend' | 'image'>>;

export type DeskParts = {
  readonly link: Link;
  readonly beginning: Beginning;
  readonly newRequestId: () => string;
  /** Says something on standard error. */
  readonly note: (text: string) => void;
};

/** What an editor asked for, beside the session. */
export type Asked = {
  readonly cwd: string;
  readonly client: AgentContext;
  readonly can: { readonly notices: boolean; readonly forms: boolean };
  /** Names of tool servers that the editor would add. */
  readonly servers: readonly string[];
  readonly folders: readonly string[];
};

export type Opened = { readonly talk: Talk; readonly settings: Settings };

export type Desk = {
  begin(asked: Asked): Promise<Opened>;
  /** One that is there already; with `replay`, what was said in it is told first. */
  load(reference: string, asked: Asked, replay: boolean): Promise<Opened>;
  list(cwd: string | null, cursor: string | null): Promise<ListSessionsResponse>;
  /** An open session. @throws OrreryError for any other */
  talk(id: string): Talk;
  settings(session: SessionView): Promise<Settings>;
  /** Puts its program to sleep and stops telling of it. */
  leave(id: string): Promise<void>;
  close(): void;
};

export const createDesk = (parts: DeskParts): Desk => {
  const talks = new Map<string, Talk>();
  const { link } = parts;
  const harnessOf = async ({ harness }: SessionView): Promise<HarnessView | null> =>
    (await link.call('harnessList', {})).items.find(({ id }) => id === harness) ?? null;

  const seat = async (
    session: SessionView,
    asked: Asked,
    more: { root: string | null; preface: string | null },
  ): Promise<Opened> => {
    talks.get(session.id)?.close();
    const harness = await harnessOf(session);
    const checkout = checkoutOf(link, session);
    const talk = createTalk(
      {
        link,
        client: asked.client,
        can: asked.can,
        place: placeOf({ root: more.root, workdir: checkout.workdir }),
        findPlace: checkout.find,
        newRequestId: parts.newRequestId,
        preface: more.preface,
        settings: (now) => settingsUpdates(now, harness),
      },
      session,
    );
    talks.set(session.id, talk);
    return { talk, settings: settingsOf(session, harness) };
  };
  const room = (): void => {
    if (talks.size < acpLimits.sessions) return;
    throw new OrreryError('limit_reached', 'This editor has too many sessions open.', {
      rule: `At most ${acpLimits.sessions} are open at once; a closed one stays and can be loaded again.`,
    });
  };

  return {
    begin: async (asked) => {
      room();
      noFolders(asked);
      const { id: project, source } = await projectAt(parts, asked.cwd);
      const requestId = parts.newRequestId();
      const body = { ...parts.beginning, project, requestId };
      const session = await link.call('sessionCreate', { body, idempotencyKey: requestId });
      return seat(session, asked, { root: source, preface: prefaceOf(session, asked) });
    },
    load: async (reference, asked, replay) => {
      noFolders(asked);
      if (!talks.has(reference)) room();
      const session = await link.call('sessionShow', { params: { id: reference } });
      const root = await sourceOf(link, session);
      const here = repositoryRoot(absolute(asked.cwd));
      const opened = await seat(session, asked, { root: root === here ? root : null, preface: null });
      if (replay) await opened.talk.replay();
      return opened;
    },
    list: (cwd, cursor) => listed(link, cwd, cursor),
    talk: (id) => {
      const talk = talks.get(id);
      if (talk !== undefined) return talk;
      throw new OrreryError('not_found', 'This session is not open here.', {
        rule: 'A session is begun, loaded or resumed before it is used.',
      });
    },
    settings: async (session) => settingsOf(session, await harnessOf(session)),
    leave: async (id) => {
      const talk = talks.get(id);
      if (talk === undefined) return;
      await talk.cancel();
      talks.delete(id);
      talk.close();
      await link.call('sessionClose', { params: { id }, body: {} });
    },
    close: () => {
      for (const talk of talks.values()) talk.close();
      talks.clear();
    },
  };
};

const absolute = (cwd: string): string => {
  if (posix.isAbsolute(cwd)) return cwd;
  throw refused('The folder of a session must be an absolute path.', 'The editor gives it as "cwd".');
};

const noFolders = ({ folders }: Asked): void => {
  if (folders.length === 0) return;
  throw refused('A session has one folder.', 'More folders are not supported; the capabilities say so.');
};

/** The project of a folder; the repository becomes one when it is none yet. */
const projectAt = async (
  { link, note, newRequestId }: DeskParts,
  cwd: string,
): Promise<{ readonly id: string; readonly source: string }> => {
  const root = repositoryRoot(absolute(cwd));
  if (root === null)
    throw refused(
      'This folder is in no Git repository.',
      'A session works in a checkout of a repository.',
      'git init && git commit --allow-empty -m first',
    );
  const known = (await allProjects(await link.connection())).find(({ source }) => source === root);
  if (known !== undefined) return known;
  const project = await link.call('projectAdd', { body: { source: root }, idempotencyKey: newRequestId() });
  note(`  This repository is now the project ${project.name}.`);
  return project;
};

const sourceOf = async (link: Link, { project }: SessionView): Promise<string | null> => {
  const found = (await allProjects(await link.connection())).find(({ id }) => id === project.id);
  return found === undefined || !posix.isAbsolute(found.source) ? null : found.source;
};

/** Where a session's checkout is: asked for until it is made. */
const checkoutOf = (
  link: Link,
  { environment }: SessionView,
): { readonly workdir: () => string | null; readonly find: () => Promise<void> } => {
  let workdir: string | null = null;
  return {
    workdir: () => workdir,
    find: async () => {
      if (workdir !== null) return;
      const found = await link.call('environmentShow', { params: { id: environment.id } }).catch((thrown: unknown) => {
        // It was deleted: paths stay as they are.
        if (thrown instanceof OrreryError && thrown.code === 'not_found') return null;
        throw thrown;
      });
      workdir = found?.workdir ?? null;
    },
  };
};

/** What a person should know before the agent's first word. */
const prefaceOf = ({ name, environment, harness, mode }: SessionView, { servers }: Asked): string => {
  const tools = servers.map(inertLine).join(', ');
  return [
    `Orrery session ${inertLine(name)}: ${inertLine(harness)}, mode ${mode}, in the environment ${inertLine(environment.name)} on ${inertLine(environment.backend)}.`,
    'The agent works in a checkout of its own, begun at what is committed here: files of this folder do not change, and what is not committed is not there.',
    `Paths are shown as those of this folder. See the checkout: \`orrery env show ${environment.name}\`.`,
    ...(servers.length === 0
      ? []
      : [`\n\nThe editor's tool servers (${tools}) are not given to the agent: it is in an environment of its own.`]),
    '\n\n',
  ].join(' ');
};

const listed = async (link: Link, cwd: string | null, cursor: string | null): Promise<ListSessionsResponse> => {
  const projects = await allProjects(await link.connection());
  const root = cwd === null ? null : repositoryRoot(absolute(cwd));
  const project = projects.find(({ source }) => source === root);
  if (cwd !== null && project === undefined) return { sessions: [] };
  if (cursor !== null && !/^\d{1,15}$/.test(cursor))
    throw refused('The cursor is none of this list.', 'Give the one that the last page ended with.');
  const query = { limit: 50, ...(cursor === null ? {} : { cursor }), ...(project === undefined ? {} : { project: project.id }) };
  const { items, nextCursor } = await link.call('sessionList', { query });
  const sources = new Map(projects.map(({ id, source }) => [id, source]));
  const sessions = items.flatMap(({ id, name, changedAt, project: of }) => {
    const source = sources.get(of.id);
    // A session without a folder of this machine cannot be opened by an editor.
    return source === undefined || !posix.isAbsolute(source)
      ? []
      : [{ sessionId: id, cwd: source, title: name, updatedAt: changedAt }];
  });
  return { sessions, nextCursor };
};
