// Glossary. A submodule is a commit of another repository at a path of a commit; `.gitmodules` says where that repository is.
// Both are text of the repository, and so of anybody who may write in it.
import { OrreryError } from '@orrery/protocol/errors';
import { showBytes } from '../files/tree-walk.ts';
import { SUBMODULES } from '../kernel/limits.ts';
import type { Git } from './run.ts';

/** One submodule of a commit, as `.gitmodules` has it. */
export type Submodule = { readonly name: string; readonly path: string; readonly url: string; readonly sha: string };

/** What is wrong with a submodule, in one sentence, and how to do without. */
export const submoduleRefused = (path: string, why: string, rule: string): OrreryError =>
  new OrreryError('repository_unusable', `The submodule ${JSON.stringify(path.slice(0, 200))} is not filled: ${why}.`, {
    rule,
    fix: 'Mend .gitmodules, or leave submodules empty: submodules: none in .orrery/orrery.yaml',
  });

/** Names and paths as honest repositories have them; what Git was tricked by in the past is not among them. */
const isPlainName = (text: string): boolean =>
  text.length <= 500 &&
  // oxlint-disable-next-line no-control-regex
  !/[\u0000-\u001f\u007f\\"\ufffd]/.test(text) &&
  text.split('/').every((part) => part !== '' && !/^[.-]*$|^-|^\.git$|^git~\d/i.test(part));

/**
 * The submodules of a commit. Rejects with `repository_unusable` when one cannot be filled: no entry, a name, path or URL that
 * is not plain, or too many of them.
 */
export const readSubmodules = async (git: Git, gitDir: string, commit: string): Promise<readonly Submodule[]> => {
  const { stdout } = await git.run({ gitDir, args: ['ls-tree', '-r', '-z', '--full-tree', commit] });
  const entries = stdout.toString('latin1').split('\0');
  const links = entries.flatMap((line) =>
    line.startsWith('160000 ') ? [{ sha: line.slice(14, 54), path: line.slice(55) }] : [],
  );
  if (links.length === 0) return [];
  if (links.length > SUBMODULES)
    throw submoduleRefused(
      showBytes(links[0]?.path ?? ''),
      `there are ${links.length}`,
      `At most ${SUBMODULES} submodules are filled.`,
    );
  const file = entries.find((line) => line.endsWith('\t.gitmodules'));
  const sections = file?.startsWith('100') === true ? await readSections(git, gitDir, file.slice(12, 52)) : [];
  return links.map(({ sha, path }) => {
    const shown = showBytes(path);
    const found = sections.filter((section) => section.path === shown);
    const [section] = found;
    if (section === undefined || found.length > 1)
      throw submoduleRefused(
        shown,
        'it has no entry of its own in .gitmodules',
        'A plain file .gitmodules says where it comes from.',
      );
    if (!isPlainName(shown) || !isPlainName(section.name))
      throw submoduleRefused(
        shown,
        'its name or path is none that is taken',
        'No "..", no leading dash, nothing that is taken for .git.',
      );
    return { name: section.name, path: shown, url: section.url, sha };
  });
};

type Section = { readonly name: string; readonly path: string; readonly url: string };

/** Reads a configuration file as Git does, from its blob and without includes. */
const readSections = async (git: Git, gitDir: string, blob: string): Promise<Section[]> => {
  const { stdout, code } = await git.run({
    gitDir,
    args: ['config', '--blob', blob, '--no-includes', '-z', '--list'],
    okCodes: [0, 1, 128],
  });
  const values = new Map<string, { path?: string; url?: string }>();
  for (const item of code === 0 ? stdout.toString('utf8').split('\0') : []) {
    const found = /^submodule\.([^]*)\.(path|url)\n([^]*)$/.exec(item);
    if (found === null) continue;
    const [, name = '', key, value = ''] = found;
    values.set(name, { ...values.get(name), [key as 'path' | 'url']: value });
  }
  return [...values].flatMap(([name, { path, url }]) => (path === undefined || url === undefined ? [] : [{ name, path, url }]));
};
