import { describe, expect, it } from 'vitest';
import { offerSkills } from './skills.ts';
import type { Harness, SessionContext } from '../harness/harness.ts';
import { builtinHarnesses, createHarnessRegistry } from '../harness/registry.ts';

const context = (skills: string | null): SessionContext => ({
  ...{ program: { directory: '/p', executable: '/p/x', version: '1', node: '/n/node' }, conversation: null, branch: null },
  ...{ model: null, effort: null, workdir: '/w', home: '/h', scratchpad: '/s', brokerEndpoint: 'http://127.0.0.1:1' },
  ...{ tokenFile: '/t', systemPrompt: null, asRoot: false, mode: 'all', skills },
});
const registry = createHarnessRegistry();
const launched = (id: string, skills: string | null) => registry.get(id).session!.launch(context(skills));

describe('skills', () => {
  it('lie where each program looks for them', () => {
    expect(Object.fromEntries(builtinHarnesses.map(({ id, skills }) => [id, skills?.('o') ?? null]))).toEqual({
      ...{ claude: '.orrery/skills/o/skills', pi: '.orrery/skills/o/skills', opencode: '.orrery/skills/o/skills' },
      ...{ codex: '.codex/skills', gemini: '.gemini/skills', qwen: '.qwen/skills', copilot: '.copilot/skills', command: null },
    });
  });

  it('are told to those that are told where to look, and to no other', () => {
    const folder = '/h/.orrery/skills/o/skills';
    expect(launched('pi', folder).args.slice(-2)).toEqual(['--skill', folder]);
    const claude = launched('claude', folder);
    expect(claude.args).toEqual(expect.arrayContaining(['--plugin-dir', '/h/.orrery/skills/o']));
    expect(Object.keys(claude.homeFiles)).toEqual(['.orrery/skills/o/.claude-plugin/plugin.json']);
    const task = (skills: string | null) => registry.get('claude').launch({ ...context(skills), prompt: 'x', command: null });
    expect(task(folder).args).not.toContain('--disable-slash-commands');
    expect(task(null).args).toContain('--disable-slash-commands');
    const config = (skills: string | null) =>
      JSON.parse(launched('opencode', skills).homeFiles['.config/opencode/opencode.json'] ?? '') as object;
    expect(config(folder)).toMatchObject({ skills: { paths: [folder] }, permission: { '*': 'ask', skill: 'allow' } });
    expect(config(null)).not.toHaveProperty('skills');
    for (const id of ['codex', 'gemini', 'qwen', 'copilot']) expect(launched(id, `/h/${id}`)).toEqual(launched(id, null));
  });

  it('are carried in file by file, for a program that knows skills', async () => {
    const written: string[] = [];
    const agent = { name: 'one', source: 'project', path: 'x', hash: 'h', prompt: '' };
    const skill = { name: 'poem', folder: '.claude/skills/poem', commit: 'c' };
    const offer = (harness: Pick<Harness, 'id' | 'skills'>, skills?: object[]) =>
      offerSkills(
        { skillFiles: async ({ name }, project) => [{ path: 'SKILL.md', content: Buffer.from(`${name} of ${project}`) }] },
        {
          harness: harness as Harness,
          row: { agent: JSON.stringify({ ...agent, skills }), project_id: 'p' },
          environment: { home: '/h', writeHomeFile: async (path, content) => void written.push(`${path}: ${String(content)}`) },
          owner: 'o',
        },
      );
    expect(await offer(registry.get('pi'), [skill])).toBe('/h/.orrery/skills/o/skills');
    expect(written).toEqual(['.orrery/skills/o/skills/poem/SKILL.md: poem of p']);
    expect([await offer(registry.get('pi'), []), await offer(registry.get('pi'))]).toEqual([null, null]);
    await expect(offer(registry.get('command'), [skill])).rejects.toMatchObject({
      code: 'unsupported',
      message: 'command cannot be offered the skills of the agent one.',
    });
  });
});
