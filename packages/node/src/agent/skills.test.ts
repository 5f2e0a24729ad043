import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SKILL_BYTES, SKILL_FILES } from '../kernel/limits.ts';
import { createSkills, type Skills } from './skills.ts';

const main = (name: string): string => `---\nname: ${name}\ndescription: for tests\nlicense: any\n---\nDo it.\n`;
const at = { project: 'p', commit: 'c' };
const asked = { agent: 'one', at };

type Entry = { readonly path: string; readonly kind: string; readonly bytes: number; readonly sha: string };

/** Skills of a commit by whole paths, and of a user's folder. */
const skillsOf = (given: { readonly project?: Record<string, string>; readonly user?: Record<string, string> }): Skills => {
  const userSkills = mkdtempSync('/tmp/skills-');
  onTestFinished(() => rmSync(userSkills, { recursive: true }));
  for (const [path, text] of Object.entries(given.user ?? {})) {
    mkdirSync(dirname(join(userSkills, path)), { recursive: true });
    if (text.startsWith('->')) symlinkSync(text.slice(2), join(userSkills, path));
    else writeFileSync(join(userSkills, path), text);
  }
  const all = Object.entries(given.project ?? {});
  return createSkills<Entry>({
    ...{ userFolder: userSkills, userSkills },
    listTree: async (_, { folder }) => ({
      files: all
        .filter(([path]) => path.startsWith(`${folder}/`))
        .map(([path, text]) => ({
          ...{ path: path.slice(folder.length + 1), kind: text.startsWith('->') ? 'link' : 'file' },
          ...{ bytes: Buffer.byteLength(text), sha: path },
        })),
    }),
    readFiles: async function* (_, files) {
      for (const { sha } of files) yield Buffer.from(given.project?.[sha] ?? '');
    },
  });
};

const refusal = async (skills: Skills, name = 'poem') =>
  skills.find([name], asked).then(
    () => null,
    (thrown: { code: string; toLines(): string[] }) => [thrown.code, ...thrown.toLines()].join(' | '),
  );

describe('skills', () => {
  it('are those of the project at its commit, then those of the user, each with all of its files', async () => {
    const skills = skillsOf({
      project: {
        ...{ '.claude/skills/poem/SKILL.md': main('poem'), '.agents/skills/poem/SKILL.md': main('poem') },
        ...{ '.agents/skills/poem/lib/words.txt': 'words' },
      },
      user: { 'poem/SKILL.md': main('poem'), 'mine/SKILL.md': main('mine'), 'mine/deep/er/a.bin': '\0\u0001' },
    });
    const [poem, mine] = await skills.find(['poem', 'mine'], asked);
    expect(poem).toEqual({ name: 'poem', folder: '.agents/skills/poem', commit: 'c' });
    expect(mine).toMatchObject({ name: 'mine', commit: null });
    const read = async (skill: typeof poem) =>
      (await skills.files(skill!, 'p')).map(({ path, content }) => [path, Buffer.from(content).toString()]);
    expect(await read(poem)).toEqual([
      ['SKILL.md', main('poem')],
      ['lib/words.txt', 'words'],
    ]);
    expect(await read(mine)).toEqual([
      ['SKILL.md', main('mine')],
      ['deep/er/a.bin', '\0\u0001'],
    ]);
    expect(await skills.find(['mine'], { agent: 'one', at: null })).toHaveLength(1);
    await expect(skills.find(['poem'], { agent: 'one', at: null })).resolves.toMatchObject([{ commit: null }]);
  });

  it('that are not there are refused with what was meant, also when they go later', async () => {
    const skills = skillsOf({ project: { '.claude/skills/poems/SKILL.md': main('poems') } });
    expect(await refusal(skills)).toBe(
      'not_found | There is no skill poem, which the agent one names. | Did you mean "poems"? | orrery agent show one',
    );
    expect(await refusal(skills, 'zz')).toContain('.orrery/skills, .agents/skills, .claude/skills in the base commit');
    await expect(skills.files({ name: 'poem', folder: '/nowhere/poem', commit: null }, 'p')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it.each([
    ['another name', { 'SKILL.md': main('other') }, /called otherwise than its folder/],
    ['no description', { 'SKILL.md': '---\nname: poem\n---\n' }, /SKILL\.md:.*description/],
    ['a name of another kind', { 'SKILL.md': '---\nname: [poem]\ndescription: x\n---\n' }, /SKILL\.md:2/],
    ['no front matter', { 'SKILL.md': 'Only words.' }, /SKILL\.md/],
    ['no end', { 'SKILL.md': '---\nname: poem\n' }, /the front matter has no end/],
    ['no text', { 'SKILL.md': 'a\0b' }, /not text/],
    ['aliases of itself', { 'SKILL.md': '---\nname: poem\ndescription: &a [*a]\n---\n' }, /SKILL\.md/],
    ['a link', { 'SKILL.md': main('poem'), key: '->/etc/passwd' }, /no plain file: key/],
    ['a link for itself', { 'SKILL.md': '->/etc/passwd' }, /no plain file: SKILL\.md/],
    ['too many files', { 'SKILL.md': main('poem'), ...many(SKILL_FILES) }, /limit_reached .*too large.*at most 64 files/],
    ['too many bytes', { 'SKILL.md': main('poem'), big: 'x'.repeat(SKILL_BYTES) }, /limit_reached .*too large/],
  ])('with %s are refused, of the project and of the user', async (_, files, why) => {
    const below = (folder: string) =>
      Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}poem/${path}`, text]));
    expect(await refusal(skillsOf({ project: below('.orrery/skills/') }))).toMatch(why);
    expect(await refusal(skillsOf({ user: below('') }))).toMatch(why);
  });

  it('of a hostile tree do not lead out of their folder', async () => {
    const project = { '.claude/skills/poem/SKILL.md': main('poem'), '.claude/skills/poem/../../x': 'y' };
    expect(await refusal(skillsOf({ project }))).toMatch(/no plain file/);
  });
});

function many(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, '']));
}
