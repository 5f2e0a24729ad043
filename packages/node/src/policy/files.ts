// The policy files that count: the operator's, and those of a project's base commit.

import { constants, type Stats } from 'node:fs';
import { lstat, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { intentHash } from '../kernel/intent.ts';
import { CONFIG_FILE_BYTES } from '../kernel/limits.ts';
import { POLICY_COMMITS, POLICY_FILES } from '../kernel/policy-limits.ts';
import { readPolicy, twice, type PolicyFile } from './model.ts';
import { NOT_UTF8, textOfBytes } from './utf8.ts';

/** A file of a commit, relative to the folder that was listed. */
export type TreeEntry = { readonly path: string; readonly kind: string; readonly bytes: number; readonly sha: string };

export type FolderParts<Entry extends TreeEntry = TreeEntry> = {
  /** The operator's folder; it need not exist. */
  readonly folder: string;
  readonly listTree: (
    project: string,
    at: { readonly commit: string; readonly folder: string },
  ) => Promise<{ readonly files: readonly Entry[] }>;
  readonly readFiles: (project: string, files: readonly Entry[]) => AsyncIterable<Uint8Array>;
};

/** A base commit of a project. */
export type PolicyAt = { readonly project: string; readonly commit: string };

/** Reads what counts, anew each time; never rejects: what cannot be read is a file with that problem. */
export type PolicyFiles = {
  operator(): Promise<readonly PolicyFile[]>;
  /** Another text whenever what counts of the operator's files is something else. */
  stamp(): Promise<string>;
  /** `at` null: there is no project to look into. */
  all(at: PolicyAt | null): Promise<readonly PolicyFile[]>;
};

const PROJECT_FOLDER = '.orrery/policies';
const isPolicy = (name: string): boolean => /\.(ya?ml|json)$/i.test(name) && !name.startsWith('.') && !name.includes('/');

const broken = (origin: PolicyFile['origin'], path: string, problem: OrreryError): PolicyFile => ({
  ...{ origin, path, problem },
  rules: [],
});

const unreadable = (path: string, why: string): OrreryError =>
  new OrreryError('config_invalid', `${path}: ${why}.`, {
    rule: 'A policy that cannot be read may deny something: until then everything is asked.',
    fix: `ls -l ${path}`,
  });

const tooMany = (folder: string): OrreryError =>
  new OrreryError('limit_reached', `${folder} has too many files.`, { rule: `A folder has at most ${POLICY_FILES} policies.` });

export const createPolicyFiles = <Entry extends TreeEntry>(parts: FolderParts<Entry>): PolicyFiles => {
  const parsed = new Map<string, { readonly text: string; readonly file: PolicyFile }>();
  /** The same text is not read twice. */
  const read = (path: string, text: string): PolicyFile => {
    const before = parsed.get(path);
    if (before?.text === text) return before.file;
    const file = readPolicy({ origin: 'operator', path }, text);
    if (parsed.size >= POLICY_FILES) parsed.clear();
    parsed.set(path, { text, file });
    return file;
  };
  const commits = new Map<string, readonly PolicyFile[]>();
  const ofCommit = async (at: PolicyAt): Promise<readonly PolicyFile[]> => {
    const key = `${at.project} ${at.commit}`;
    const known = commits.get(key);
    if (known !== undefined) return known;
    const files = await projectFiles(parts, at);
    // A commit never changes; whether it could be read does.
    if (files.some(({ path }) => path === PROJECT_FOLDER)) return files;
    if (commits.size >= POLICY_COMMITS) commits.clear();
    commits.set(key, files);
    return files;
  };
  const operator = async (): Promise<readonly PolicyFile[]> => oneNameEach(await operatorFiles(parts.folder, read));
  return {
    operator,
    stamp: async () =>
      intentHash((await operator()).map(({ path, rules, problem }) => ({ path, rules, problem: problem?.message ?? null }))),
    all: async (at) => [...(await operator()), ...(at === null ? [] : await ofCommit(at))],
  };
};

/** A name of the operator's stands in one file alone. */
const oneNameEach = (files: readonly PolicyFile[]): readonly PolicyFile[] => {
  const found = twice(files.flatMap(({ rules }) => rules));
  if (found === null) return files;
  return files.map((file) => (file.problem === null && file.path === found.file ? { ...file, problem: found.problem } : file));
};

const operatorFiles = async (
  folder: string,
  read: (path: string, text: string) => PolicyFile,
): Promise<readonly PolicyFile[]> => {
  const wrong = (why: string): PolicyFile => broken('operator', folder, unreadable(folder, why));
  let names: string[];
  let others: string | null;
  try {
    others = writtenByOthers(await stat(folder));
    names = (await readdir(folder)).filter(isPolicy).toSorted();
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !(await stands(folder))) return [];
    return [wrong(`the folder cannot be read (${code ?? 'unknown reason'})`)];
  }
  if (names.length > POLICY_FILES) return [broken('operator', folder, tooMany(folder))];
  // What stands in it still denies.
  const files: PolicyFile[] = others === null ? [] : [wrong(others)];
  for (const name of names) {
    const path = join(folder, name);
    const text = await plainText(path);
    files.push(text instanceof OrreryError ? broken('operator', path, text) : read(path, text));
  }
  return files;
};

/** Whether there is something of that name, if only a link to nothing. */
const stands = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  );

/** Why somebody else may be the writer: its mode, or its owner, who is neither this user nor root. */
const writtenByOthers = ({ mode, uid }: Pick<Stats, 'mode' | 'uid'>): string | null => {
  if ((mode & 0o002) !== 0) return 'everybody may write it';
  const own = process.geteuid?.();
  return own === undefined || uid === own || uid === 0 ? null : `it belongs to another user (${uid})`;
};

/** The text of a plain file of which nobody else is the writer, or what is wrong with it. */
const plainText = async (path: string): Promise<string | OrreryError> => {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = await file.stat();
      if (!status.isFile()) return unreadable(path, 'it is no plain file');
      const others = writtenByOthers(status);
      if (others !== null) return unreadable(path, others);
      if (status.size > CONFIG_FILE_BYTES) return unreadable(path, `it has more than ${CONFIG_FILE_BYTES} bytes`);
      return textOfBytes(await file.readFile()) ?? unreadable(path, NOT_UTF8);
    } finally {
      await file.close();
    }
  } catch (thrown) {
    return unreadable(path, `it cannot be read (${(thrown as NodeJS.ErrnoException).code ?? 'unknown reason'})`);
  }
};

const projectFiles = async <Entry extends TreeEntry>(
  { listTree, readFiles }: FolderParts<Entry>,
  { project, commit }: PolicyAt,
): Promise<readonly PolicyFile[]> => {
  try {
    const { files } = await listTree(project, { commit, folder: PROJECT_FOLDER });
    const found = files.filter(({ path }) => isPolicy(path));
    if (found.length > POLICY_FILES) return [broken('project', `${PROJECT_FOLDER}/`, tooMany(PROJECT_FOLDER))];
    const odd = found.filter(({ kind, bytes }) => kind === 'link' || bytes > CONFIG_FILE_BYTES);
    const plain = found.filter((entry) => !odd.includes(entry));
    const texts: (string | null)[] = [];
    for await (const contents of readFiles(project, plain)) texts.push(textOfBytes(contents));
    return [
      ...odd.map(({ path }) =>
        broken('project', `${PROJECT_FOLDER}/${path}`, unreadable(`${PROJECT_FOLDER}/${path}`, 'it is a link, or too large')),
      ),
      ...plain.map(({ path }, at) => ofProject(`${PROJECT_FOLDER}/${path}`, texts[at] ?? null)),
    ];
  } catch (thrown) {
    const { message } = toOrreryError(thrown);
    return [broken('project', PROJECT_FOLDER, unreadable(PROJECT_FOLDER, `the base commit cannot be read: ${message}`))];
  }
};

/** A text of a project; null: its bytes are none. */
const ofProject = (path: string, text: string | null): PolicyFile =>
  text === null ? broken('project', path, unreadable(path, NOT_UTF8)) : readPolicy({ origin: 'project', path }, text);
