// Glossary. A source is where a project comes from: the root of a repository on this machine, or a URL.
import { realpath, stat } from 'node:fs/promises';
import { OrreryError } from '@orrery/protocol/errors';
import type { Git, GitProtocol } from './run.ts';

/** A source that was looked at. */
export type Source = {
  readonly kind: 'repository' | 'url';
  /** Resolved path of the work tree's root (or of a bare repository), or the URL. What fetches read from. */
  readonly location: string;
  readonly protocols: readonly GitProtocol[];
  readonly bare: boolean;
  /** Facts about its shape, in sentences for people. */
  readonly notes: readonly string[];
};

const unusable = (message: string, rule: string, fix?: string): OrreryError =>
  new OrreryError('repository_unusable', message, { rule, fix });

/** Reads what a person gave as a source: a path (of a root, a subfolder, a linked worktree, a bare repository) or a URL. */
export const inspectSource = async (git: Git, given: string): Promise<Source> => {
  const url = readUrl(given);
  if (url !== null) return { kind: 'url', location: url.location, protocols: [url.protocol], bare: true, notes: [] };
  return inspectFolder(git, given);
};

/** A URL and its transport, or null when the text is a path. Throws `invalid_input` for transports and forms that are refused. */
export const readUrl = (given: string): { location: string; protocol: GitProtocol } | null => {
  const scheme = /^([a-z][a-z0-9+.-]*):(\/\/|:)/i.exec(given)?.[1]?.toLowerCase();
  const scp = scheme === undefined && /^[A-Za-z0-9._-]+@[A-Za-z0-9._-]+:[^:]/.test(given);
  if (scheme === undefined && !scp) return null;
  const protocol = scp ? 'ssh' : (['https', 'ssh', 'file'] as const).find((known) => known === scheme);
  if (protocol === undefined) {
    throw new OrreryError('invalid_input', `Repositories are not fetched over ${scheme}.`, {
      rule: 'https, ssh and file only.',
      fix: 'Use an https:// or ssh:// URL, or a path.',
    });
  }
  if (/^[^:]*:\/\/[^/]*:[^/]*@/.test(given) || (protocol === 'https' && /^https:\/\/[^/]*@/i.test(given))) {
    throw new OrreryError('invalid_input', 'The URL carries credentials.', {
      rule: 'A project is stored and shown; a password or token in its URL would be too.',
      fix: 'Leave them out and use a Git credential helper or an SSH key.',
    });
  }
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f]/.test(given) || /\/\/-|@-/.test(given))
    throw new OrreryError('invalid_input', 'That is not a URL of a repository.', {
      rule: 'No blanks, no host that begins with "-".',
    });
  return { location: given, protocol };
};

const inspectFolder = async (git: Git, given: string): Promise<Source> => {
  if (!given.startsWith('/'))
    throw new OrreryError('invalid_input', `"${given}" is neither an absolute path nor a URL.`, {
      fix: 'Give the path from / on, or an https:// URL.',
    });
  const resolved = await realpath(given).catch(() => null);
  if (resolved === null) throw new OrreryError('not_found', `There is nothing at ${given}.`, { fix: 'Check the path.' });
  const folder = (await stat(resolved)).isDirectory();
  if (!folder) throw unusable(`${given} is a file.`, 'A project is a folder with a Git repository.');
  const facts = await readFacts(git, resolved, given);
  if (facts.objectFormat !== 'sha1')
    throw unusable(
      `${given} uses ${facts.objectFormat} object names, which Orrery does not handle.`,
      'Repositories with SHA-1 object names only.',
    );
  if (facts.partial)
    throw unusable(
      `${given} is a partial clone: some of its objects are not here.`,
      'Tasks work on a whole copy.',
      `git -C "${resolved}" fetch --refetch --no-filter`,
    );
  if (!facts.bare && !facts.inWorkTree)
    throw unusable(
      `${given} lies inside a Git directory, not in a work tree.`,
      'A project is added by its work tree or as a bare repository.',
      'Give the folder that holds .git.',
    );
  const root = facts.bare
    ? facts.gitDir
    : await realpath(await git.text({ profile: 'user', cwd: resolved, args: ['rev-parse', '--show-toplevel'] }));
  const linked = !facts.bare && facts.gitDir !== facts.commonDir;
  const notes = [
    ...(root !== resolved && !facts.bare ? [`added by its root ${root}, not by the folder that was given`] : []),
    ...(resolved !== given ? [`${given} leads through a link to ${resolved}`] : []),
    ...(facts.bare ? ['a bare repository: results are applied as branches only'] : []),
    ...(linked ? [`a linked worktree of ${facts.commonDir}`] : []),
    ...(facts.shallow ? ['a shallow clone: older history is not there'] : []),
  ];
  return { kind: 'repository', location: root, protocols: ['file'], bare: facts.bare, notes };
};

type Facts = {
  bare: boolean;
  inWorkTree: boolean;
  gitDir: string;
  commonDir: string;
  objectFormat: string;
  shallow: boolean;
  partial: boolean;
};

const readFacts = async (git: Git, folder: string, given: string): Promise<Facts> => {
  const questions = [
    '--is-bare-repository',
    '--is-inside-work-tree',
    '--absolute-git-dir',
    '--path-format=absolute',
    '--git-common-dir',
    '--show-object-format',
    '--is-shallow-repository',
  ];
  const { code, stdout, stderr } = await git.run({
    profile: 'user',
    cwd: folder,
    args: ['rev-parse', ...questions],
    okCodes: [0, 128],
  });
  if (code !== 0) {
    if (/dubious ownership/.test(stderr))
      throw unusable(
        `${given} belongs to another user, and Git refuses to read it.`,
        "A repository's owner can make Git run programs.",
        `git config --global --add safe.directory "${folder}"`,
      );
    throw unusable(
      `${given} is not a Git repository that can be read.`,
      stderr.split('\n')[0] ?? 'A project is a Git repository.',
      `git -C "${folder}" init`,
    );
  }
  const [bare, inWorkTree, gitDir = '', commonDir = '', objectFormat = '', shallow] = stdout.toString('utf8').split('\n');
  const filter = await git.run({
    profile: 'user',
    cwd: folder,
    args: ['config', '--get-regexp', '^(extensions\\.partialclone|remote\\..*\\.promisor)$'],
    okCodes: [0, 1],
  });
  return {
    bare: bare === 'true',
    inWorkTree: inWorkTree === 'true',
    gitDir,
    commonDir,
    objectFormat,
    shallow: shallow === 'true',
    partial: filter.code === 0,
  };
};
