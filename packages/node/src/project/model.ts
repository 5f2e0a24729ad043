// Glossary. A project is a repository known to the node; its source is where it was added from; its mirror is the node's
// own copy (git/mirror.ts). Hooks are scripts in `.orrery/hooks` of a commit.

import { OrreryError, type Project } from '@orrery/protocol';
import type { Selectable } from 'kysely';
import { toInstant } from '../kernel/clock.ts';
import type { ProjectTable } from '../store/tables.ts';

export type ProjectRow = Selectable<ProjectTable>;

/** Scripts a project may have, in the order in which they run. */
export const hookNames = ['init', 'before', 'validation', 'after'] as const;
export type HookName = (typeof hookNames)[number];

/** Where a hook lies in a commit. */
export const hookPath = (name: HookName): string => `.orrery/hooks/${name}.sh`;

/** The project's own settings in a commit. */
export const settingsPath = '.orrery/orrery.yaml';

/** A project as clients see it. */
export const toProject = (row: ProjectRow, { seq, tasks }: { seq: number; tasks: number }): Project => ({
  id: row.id,
  seq,
  name: row.name,
  source: row.source,
  kind: row.kind === 'url' ? 'url' : 'repository',
  defaultBranch: row.default_branch,
  headSha: row.head_sha,
  notes: JSON.parse(row.notes) as string[],
  hooks: JSON.parse(row.hooks) as string[],
  tasks,
  createdAt: toInstant(row.created_at),
});

/** A name for a project of that source, of the characters a name may have. */
export const nameFor = (source: string): string => {
  const last =
    source
      .replace(/[/:]+$/, '')
      .replace(/\.git$/, '')
      .split(/[/:]/)
      .findLast((part) => part !== '') ?? '';
  const name = last
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[^A-Za-z0-9_]+|[-.]+$/g, '')
    .replace(/\.lock$/, '')
    .slice(0, 80);
  return name === '' ? 'project' : name;
};

export const projectNotFound = (reference: string): OrreryError =>
  new OrreryError('not_found', `There is no project ${reference.slice(0, 200)}.`, {
    rule: 'A project is named by its id, its name or its path.',
    fix: 'orrery project list',
  });

/** Throws, as an expression. */
export const raise = (error: OrreryError): never => {
  throw error;
};
