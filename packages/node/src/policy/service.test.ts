import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OrreryError, type InteractionAsk, type InteractionView } from '@orrery/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addRule } from './rule-file.ts';
import { createPolicies, type Policies, type PolicyParts, type Subject } from './service.ts';

const COMMIT = 'a'.repeat(40);
const ask: InteractionAsk = {
  ...{ kind: 'command', tool: 'Bash', title: 'Run a command', command: 'npm test', paths: [], detail: '', questions: [] },
  outcomes: ['approved', 'denied'],
};

describe('policies', () => {
  let folder = '';
  let committed: Record<string, string | Buffer> = {};
  let open: InteractionView;
  let policies: Policies;
  let told: unknown[] = [];
  const at = { project: 'prj_1', commit: COMMIT };
  const subject = (): Subject => ({
    ...{ interaction: open, at },
    asked: { project: { id: 'prj_1', name: 'shop' }, harness: 'claude', workdir: '/place', ask: open.ask },
  });
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'orrery-policy-')), 'policies');
    committed = {};
    told = [];
    open = {
      ...{ id: 'int_1', sessionId: 'ses_1', sessionName: 'talk', turn: 1, state: 'open', revision: 1, ask, outcome: null },
      ...{ answers: null, by: null, deadlineAt: null, createdAt: '2026-01-02T03:04:05.000Z', settledAt: null },
    };
    policies = createPolicies(parts());
  });
  const parts = (): PolicyParts => ({
    folder,
    listTree: async (_, { commit }) => {
      if (commit !== COMMIT) throw new OrreryError('repository_unusable', 'There is no such commit.');
      return {
        files: Object.entries(committed).map(([path, text]) => ({ path, kind: 'file', bytes: text.length, sha: path })),
      };
    },
    readFiles: async function* (_, files) {
      for (const { path } of files) yield Buffer.from(committed[path] ?? '');
    },
    subject: async () => subject(),
    known: async () => ({ projects: new Set(['prj_1', 'shop']), harnesses: new Set(['claude']) }),
    newest: async () => ({ ...at, name: 'shop' }),
    record: async (added) => void told.push(added),
    answer: async (_, { outcome, by }) => {
      open = { ...open, state: 'settled', outcome, by };
      return open;
    },
  });
  afterEach(() => rm(join(folder, '..'), { recursive: true }));

  const write = async (name: string, text: string | Buffer): Promise<void> => {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), text);
  };
  const said = async (command = 'npm test', where: typeof at | null = at) => {
    const decide = await policies.inForce(where);
    return decide({ ...subject().asked, ask: { ...ask, command } })?.verdict ?? null;
  };
  const allow = (command: string, name = 'a'): string =>
    `rules: [{ name: ${name}, action: approval, verdict: allow, match: { command: { exact: ${command} } } }]`;
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (thrown: unknown) => (thrown as OrreryError).code,
    );
  const add = async (more: object = {}) => {
    const { rule } = await policies.propose('int_1');
    return policies.add('int_1', { revision: 1, yaml: rule?.yaml ?? '', by: 'ann', ...more });
  };

  it('count from the moment they are written, and no longer than they are there', async () => {
    expect(await said()).toBeNull();
    await write('a.yaml', allow('npm test'));
    expect(await said()).toBe('allow');
    await write('a.yaml', allow('npm run lint'));
    expect(await said()).toBeNull();
    await rm(join(folder, 'a.yaml'));
    expect(await policies.list(null)).toEqual({ items: [], files: [], folder, broken: false, idle: [] });
  });

  it('have everything asked while a file cannot be used, whatever it is that is wrong', async () => {
    await write('good.yaml', allow('npm test'));
    const broken = join(folder, 'b.yaml');
    const ways: Record<string, () => Promise<void>> = {
      syntax: () => write('b.yaml', 'rules: ['),
      'the name of another file': () => write('b.yaml', allow('x')).then(() => write('good2.yaml', allow('y'))),
      folder: () => mkdir(broken).then(() => undefined),
      'a link to nothing': () => symlink('/nowhere', broken),
      'the same key twice, by an alias': () =>
        write('b.yaml', `rules: [{ &n name: a1, *n : a2, action: approval, verdict: ask }]`),
      'not UTF-8': () => write('b.yaml', Buffer.from('# f\u00fcr\nrules: []\n', 'latin1')),
      'UTF-16': () => write('b.yaml', Buffer.from('\ufeffrules: []\n', 'utf16le')),
      'everybody writes it': () => write('b.yaml', 'rules: []').then(() => chmod(broken, 0o666)),
      size: () => write('b.yaml', `# ${'x'.repeat(2_000_000)}`),
    };
    for (const [way, breakIt] of Object.entries(ways)) {
      await breakIt();
      expect([way, await said(), (await policies.list(null)).broken]).toEqual([way, 'ask', true]);
      await rm(broken, { recursive: true });
      await rm(join(folder, 'good2.yaml'), { force: true });
      expect([way, await said()]).toEqual([way, 'allow']);
    }
    const lost = { project: 'prj_1', commit: 'b'.repeat(40) };
    expect(await said('npm test', lost)).toBe('ask');
  });

  it('have everything asked while somebody else may write the folder, or it is a link to nothing; its denials hold', async () => {
    await write('Allow.YAML', allow('npm test'));
    await write('b.yml', 'rules: [{ name: no, action: approval, verdict: deny, reason: so, match: { command: { exact: id } } }]');
    expect([await said(), await said('id')]).toEqual(['allow', 'deny']);
    await chmod(folder, 0o777);
    expect([await said(), await said('ls'), await said('id')]).toEqual(['ask', 'ask', 'deny']);
    expect((await policies.list(null)).files.find(({ path }) => path === folder)?.problem?.[0]).toContain(
      'everybody may write it',
    );
    await rm(folder, { recursive: true });
    expect(await said()).toBeNull();
    await symlink('/nowhere/policies', folder);
    expect([await said(), await said('ls')]).toEqual(['ask', 'ask']);
    expect((await policies.propose('int_1')).rule).toBeNull();
  });

  it.runIf(process.geteuid?.() === 0)('have everything asked while a file, or the folder, is of another user', async () => {
    await write('a.yaml', allow('npm test'));
    for (const path of [join(folder, 'a.yaml'), folder]) {
      await chown(path, 65_534, 65_534);
      expect([path, await said()]).toEqual([path, 'ask']);
      await chown(path, 0, 0);
      expect([path, await said()]).toEqual([path, 'allow']);
    }
  });

  it('of a project have everything asked when they are not UTF-8, and are read with capitals in their names', async () => {
    committed['a.YML'] = 'rules: [{ name: no, action: approval, verdict: deny, reason: so, match: { command: { exact: id } } }]';
    expect([await said('id'), await said('ls')]).toEqual(['deny', null]);
    policies = createPolicies(parts());
    committed['b.yaml'] = Buffer.from('# f\u00fcr\nrules: []\n', 'latin1');
    expect([await said('id'), await said('ls')]).toEqual(['deny', 'ask']);
  });

  it('of a project narrow those of the operator, in that project', async () => {
    await write('a.yaml', allow('npm test'));
    committed['own.yaml'] = 'rules: [{ name: no, action: approval, verdict: deny, reason: so, match: { kind: command } }]';
    committed['sub/other.yaml'] = 'rules: [';
    expect([await said(), await said('npm test', null)]).toEqual(['deny', 'allow']);
    expect((await policies.test({ command: 'npm test', project: 'shop' })).rule).toEqual({
      ...{ name: 'no', file: '.orrery/policies/own.yaml' },
    });
    expect((await policies.test({ command: 'npm test' })).verdict).toBe('allow');
    expect((await policies.test({ interaction: 'int_1' })).fits.map(({ name }) => name)).toEqual(['a', 'no']);
  });

  it('are tried with paths from the root of a checkout, and an absolute one lies beside it', async () => {
    await write('a.yaml', 'rules: [{ name: a, action: approval, verdict: allow, match: { kind: edit } }]');
    const verdicts = [['docs/a.md'], ['/etc/passwd'], ['../a']].map(async (paths) => (await policies.test({ paths })).verdict);
    expect(await Promise.all(verdicts)).toEqual(['allow', null, null]);
  });

  it('are said to mean nothing when they name what there is not', async () => {
    const rule = (name: string, match: string): string =>
      `{ name: ${name}, action: approval, verdict: deny, reason: so, match: ${match} }`;
    const some = [rule('a', '{ project: shop }'), rule('b', '{ project: shpo }'), rule('c', '{ harness: claud }')];
    await write('a.yaml', `rules: [${some.join(', ')}]`);
    expect((await policies.list(null)).idle).toEqual([
      expect.stringContaining('"b" is for the project "shpo"'),
      expect.stringContaining('"c" is for the program "claud"'),
    ]);
  });

  it('take a rule that a person saw, and allow once what was asked', async () => {
    const file = join(folder, 'approvals.yaml');
    const { rule } = await policies.propose('int_1');
    expect(rule?.file).toBe(file);
    const added = await add();
    expect(added).toEqual({
      interaction: { ...open, state: 'settled', outcome: 'approved', by: 'ann' },
      rule: { name: rule!.name, file },
    });
    expect(told).toEqual([{ by: 'ann', rule: rule!.name, interaction: 'int_1' }]);
    expect(await readFile(file, 'utf8')).toContain('exact: npm test');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await said()).toBe('allow');
    expect([await said('npm test; id'), await said('npm tes')]).toEqual([null, null]);
    expect(await policies.propose('int_1')).toEqual({ rule: null, why: expect.stringContaining('settled') });
  });

  it('take a rule that settled what was asked before the person could', async () => {
    const first = policies;
    policies = createPolicies({
      ...parts(),
      answer: async () => {
        open = { ...open, state: 'settled', outcome: 'approved', by: 'rule:npm-test' };
        throw new OrreryError('conflict', 'settled already');
      },
    });
    expect((await add()).interaction.by).toBe('rule:npm-test');
    expect(await first.stamp()).toBe(await policies.stamp());
  });

  it('have another stamp whenever a file says something else, or can no longer be used', async () => {
    const stamps = [await policies.stamp()];
    for (const text of [allow('npm test'), allow('npm run lint'), 'rules: [']) {
      await write('a.yaml', text);
      stamps.push(await policies.stamp());
    }
    await rm(join(folder, 'a.yaml'));
    expect(new Set(stamps).size).toBe(4);
    expect(await policies.stamp()).toBe(stamps[0]);
  });

  it('take no other rule than the one that was seen, and none that would not be followed', async () => {
    expect(await codeOf(add({ yaml: '- name: everything' }))).toBe('conflict');
    expect(await codeOf(add({ revision: 2 }))).toBe('conflict');
    await write('a.yaml', 'rules: [{ name: ask-me, action: approval, verdict: ask, match: {} }]');
    expect(await policies.propose('int_1')).toEqual({ rule: null, why: expect.stringContaining('change nothing') });
    expect(await codeOf(add())).toBe('conflict');
    await write('a.yaml', 'rules: [');
    expect(await codeOf(add())).toBe('conflict');
    expect([told, open.state]).toEqual([[], 'open']);
  });

  it('keep a file that is a link, and its mode', async () => {
    const own = join(folder, '..', 'own.yaml');
    await write('../own.yaml', '# mine\nrules: []\n');
    await chmod(own, 0o640);
    await symlink(own, join(folder, 'approvals.yaml'));
    await add();
    expect(await readFile(own, 'utf8')).toContain('# mine');
    expect((await stat(own)).mode & 0o777).toBe(0o640);
  });

  it('keep a file that is not UTF-8 to the byte: nothing is written', async () => {
    const bytes = Buffer.from('# f\u00fcr\nrules: []\n', 'latin1');
    const file = join(folder, 'approvals.yaml');
    await write('approvals.yaml', bytes);
    expect((await policies.propose('int_1')).rule).toBeNull();
    const rule = { name: 'a', action: 'approval', match: { command: { exact: 'ls' } }, verdict: 'allow' } as const;
    expect(await codeOf(addRule(file, { rule, projectName: 'shop' }))).toBe('config_invalid');
    expect(await readFile(file)).toEqual(bytes);
    await write('approvals.yaml', '\ufeffrules: []\n');
    await addRule(file, { rule, projectName: 'shop' }).catch(() => undefined);
    expect((await readFile(file, 'utf8')).startsWith('\ufeff')).toBe(true);
  });
});
