// Glossary. A skill is a folder with a SKILL.md, whose front matter says what it is for; a program is offered those that its agent names,
// and reads the rest of one when it needs it. Ours are the project's, at a commit, and the user's, as they are.

import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { closest, OrreryError, skillName } from '@orrery/protocol';
import { z } from 'zod';
import { SKILL_BYTES, SKILL_FILES } from '../kernel/limits.ts';
import type { KeptSkill } from '../store/kept-agent.ts';
import { invalid, parted, read, textOf } from './front-matter.ts';
import type { AgentParts, AgentsAt, TreeEntry } from './service.ts';

/** A file of a skill; its path is below the skill's folder. */
export type SkillFile = { readonly path: string; readonly content: Uint8Array };

/** Use cases of skills. */
export type Skills = {
  /** Where they are, each whole and within its bounds; the project's hide the user's. @throws OrreryError which names the skill and the agent */
  find(names: readonly string[], asked: { readonly agent: string; readonly at: AgentsAt | null }): Promise<KeptSkill[]>;
  /** The files of one. `project`: the one whose commit it names. @throws OrreryError when it is not there any more */
  files(skill: KeptSkill, project: string | null): Promise<SkillFile[]>;
};

/** Where a project has them; of two with one name the first counts. */
const projectFolders = ['.orrery/skills', '.agents/skills', '.claude/skills'] as const;

const MAIN = 'SKILL.md';

/** Skills that are looked at for a guess at what was meant. */
const SKILL_GUESSES = 200;

/** What every program that knows skills wants of one; other keys are the program's. */
const frontSchema = z.looseObject({ name: skillName, description: z.string().trim().min(1).max(1_024) });

export const createSkills = <Entry extends TreeEntry>(parts: AgentParts<Entry>): Skills => {
  const files: Skills['files'] = async (skill, project) => {
    const found = await filesOf(parts, skill, project);
    if (found !== null) return found;
    throw new OrreryError('not_found', `The skill ${skill.name} is not in ${skill.folder} any more.`, {
      rule: 'A skill of yours is read when a program starts; one of a project at the commit that was kept.',
      fix: 'orrery agent list',
    });
  };
  return {
    files,
    find: async (names, { agent, at }) => {
      const found: KeptSkill[] = [];
      for (const name of names) found.push((await findOne(parts, name, at)) ?? (await notFound(parts, { name, agent, at })));
      for (const skill of found) checkMain(skill, await files(skill, at?.project ?? null));
      return found;
    },
  };
};

const findOne = async <Entry extends TreeEntry>(
  parts: AgentParts<Entry>,
  name: string,
  at: AgentsAt | null,
): Promise<KeptSkill | null> => {
  if (at !== null)
    for (const below of projectFolders) {
      const folder = `${below}/${name}`;
      const { files } = await parts.listTree(at.project, { commit: at.commit, folder });
      if (files.some(({ path }) => path === MAIN)) return { name, folder, commit: at.commit };
    }
  const folder = join(parts.userSkills, name);
  const there = await lstat(join(folder, MAIN)).catch(whenMissing);
  return there === null ? null : { name, folder, commit: null };
};

const whenMissing = (thrown: NodeJS.ErrnoException): null => {
  if (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR') return null;
  throw thrown;
};

const notFound = async <Entry extends TreeEntry>(
  parts: AgentParts<Entry>,
  { name, agent, at }: { readonly name: string; readonly agent: string; readonly at: AgentsAt | null },
): Promise<never> => {
  const known = new Set<string>();
  if (at !== null)
    for (const folder of projectFolders)
      for (const { path } of (await parts.listTree(at.project, { commit: at.commit, folder })).files)
        if (known.size < SKILL_GUESSES && path.endsWith(`/${MAIN}`)) known.add(path.split('/')[0] ?? '');
  const own = await readdir(parts.userSkills).catch(whenMissing);
  const guess = closest(name, [...known, ...(own ?? []).slice(0, SKILL_GUESSES)]);
  const where = `${projectFolders.join(', ')} in the base commit of the project, or skills beside your configuration`;
  throw new OrreryError('not_found', `There is no skill ${name}, which the agent ${agent} names.`, {
    rule: guess === null ? `A skill is a folder with a ${MAIN}, in ${where}.` : `Did you mean "${guess}"?`,
    fix: `orrery agent show ${agent}`,
  });
};

/** Null: it is not there. @throws OrreryError for what is no plain file, or too much */
const filesOf = async <Entry extends TreeEntry>(
  parts: AgentParts<Entry>,
  skill: KeptSkill,
  project: string | null,
): Promise<SkillFile[] | null> => {
  const files = skill.commit === null ? await userFiles(skill) : await committedFiles(parts, skill, project);
  return files.some(({ path }) => path === MAIN) ? files : null;
};

const refused = ({ name, folder }: KeptSkill, what: string, rule: string): OrreryError =>
  new OrreryError('config_invalid', `The skill ${name} ${what}.`, { rule, fix: `Change ${folder}.` });

const plainOnly = (skill: KeptSkill, path: string): OrreryError =>
  refused(skill, `has something that is no plain file: ${path}`, 'A skill is plain files and folders; links are not followed.');

/** @throws OrreryError limit_reached */
const checkSize = (skill: KeptSkill, sizes: readonly number[]): void => {
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (sizes.length <= SKILL_FILES && bytes <= SKILL_BYTES) return;
  throw new OrreryError('limit_reached', `The skill ${skill.name} is too large.`, {
    rule: `A skill has at most ${SKILL_FILES} files and ${SKILL_BYTES} bytes.`,
    fix: `Take files out of ${skill.folder}.`,
  });
};

const committedFiles = async <Entry extends TreeEntry>(
  { listTree, readFiles }: AgentParts<Entry>,
  skill: KeptSkill,
  project: string | null,
): Promise<SkillFile[]> => {
  if (project === null || skill.commit === null) return [];
  const { files } = await listTree(project, { commit: skill.commit, folder: skill.folder });
  for (const { path, kind } of files) if (kind === 'link' || !isBelow(path)) throw plainOnly(skill, path);
  const sizes = files.map(({ bytes }) => bytes);
  checkSize(skill, sizes);
  const contents: Uint8Array[] = [];
  for await (const one of readFiles(project, files)) contents.push(one);
  return files.map(({ path }, index) => ({ path, content: contents[index] ?? new Uint8Array() }));
};

/** Trees of a hostile repository may hold any name. */
const isBelow = (path: string): boolean => path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

/** Plain files of a folder of the user. The bounds hold while it is read. */
const userFiles = async (skill: KeptSkill): Promise<SkillFile[]> => {
  const found: SkillFile[] = [];
  const pending = [''];
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    const folder = join(skill.folder, below);
    const entries = (await readdir(folder, { withFileTypes: true }).catch(whenMissing)) ?? [];
    for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) pending.push(path);
      else found.push({ path, content: await plainFile(skill, path) });
      checkSize(skill, [...found.map(({ content }) => content.byteLength), ...pending.map(() => 0)]);
    }
  }
  return found;
};

const plainFile = async (skill: KeptSkill, path: string): Promise<Uint8Array> => {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(join(skill.folder, path), flags).catch(() => null);
  if (file === null) throw plainOnly(skill, path);
  try {
    if (!(await file.stat()).isFile()) throw plainOnly(skill, path);
    const room = new Uint8Array(SKILL_BYTES + 1);
    const { bytesRead } = await file.read(room, 0, room.byteLength, 0);
    return room.slice(0, bytesRead);
  } finally {
    await file.close();
  }
};

/** What programs drop in silence is refused here. */
const checkMain = ({ name, folder }: KeptSkill, files: readonly SkillFile[]): void => {
  const path = `${folder}/${MAIN}`;
  const contents = files.find((file) => file.path === MAIN)?.content ?? new Uint8Array();
  const said = read(parted(textOf({ path, contents }), path).front, frontSchema, path);
  if (said.name !== name)
    throw invalid(path, 'it is called otherwise than its folder', {
      rule: 'A skill has the name of its folder.',
      fix: `Say "name: ${name}" in ${path}.`,
    });
};
