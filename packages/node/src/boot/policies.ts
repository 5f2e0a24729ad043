import { join } from 'node:path';
import { appendAudit } from '../audit/index.ts';
import { namedById } from '../environment/index.ts';
import type { Interactions } from '../interaction/index.ts';
import { createPolicies, SOME_CHECKOUT, type Policies, type Subject } from '../policy/index.ts';
import { baseShaOf } from '../run/environments/place.ts';
import { findSession, sessionNotFound } from '../session/index.ts';
import { newestOf } from './agents.ts';
import { clock, type Parts } from './parts.ts';

/** The operator's folder of policies. */
export const policyFolder = ({ paths }: Pick<Parts, 'paths'>): string => join(paths.config, 'policies');

/** Policies, on the folders and interactions that are really there. */
export const openPolicies = (parts: Parts, interactions: () => Interactions): Policies => {
  const { projects, store } = parts;
  const nameOf = async (id: string): Promise<string> => (await projects.byIds([id])).get(id)?.name ?? id;
  return createPolicies({
    folder: policyFolder(parts),
    listTree: projects.listTree,
    readFiles: projects.readFiles,
    subject: (id) => subjectOf(parts, { id, interactions: interactions(), nameOf }),
    known: async () => ({ projects: await projects.names(), harnesses: new Set(parts.harnesses.list.map(({ id }) => id)) }),
    newest: async (reference) => {
      const at = await newestOf(parts)(reference);
      return { ...at, name: await nameOf(at.project) };
    },
    record: ({ by, rule, interaction }) =>
      store.transaction((tx) =>
        appendAudit(
          tx.db,
          { actor: `token:${by}`, action: 'policy.add', subject: rule, outcome: 'done', detail: { interaction } },
          clock.nowMs(),
        ),
      ),
    answer: (id, answer) => interactions().answer(id, answer),
  });
};

/** What was asked, with where: as the rules look at it when it is asked. */
const subjectOf = async (
  { store }: Pick<Parts, 'store'>,
  given: { readonly id: string; readonly interactions: Interactions; nameOf(project: string): Promise<string> },
): Promise<Subject> => {
  const interaction = await given.interactions.show(given.id);
  const session = await findSession(store.read, interaction.sessionId);
  if (session === null) throw sessionNotFound(interaction.sessionId);
  const row = await namedById(store.read, session.environment_id);
  const commit = row === null ? null : baseShaOf(row);
  const { project_id: project, harness } = session;
  return {
    interaction,
    asked: {
      project: { id: project, name: await given.nameOf(project) },
      // Only files have a place; of those it is kept with what is asked.
      ...{ harness, ask: interaction.ask, workdir: interaction.ask.workdir ?? SOME_CHECKOUT },
    },
    at: commit === null ? null : { project, commit },
  };
};
