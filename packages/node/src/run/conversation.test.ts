import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Environment } from '../exec/backend.ts';
import { claudeHarness } from '../harness/claude/index.ts';
import { codexHarness } from '../harness/codex/index.ts';
import type { ConversationStore } from '../harness/harness.ts';
import { piHarness } from '../harness/pi/index.ts';
import { CONVERSATION_BYTES } from '../kernel/limits.ts';
import { carryConversation, dropConversations, dropUnmade, isConversationKept, keepConversation } from './conversation.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'orrery-conversation-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, content: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
};

const storeOf = ({ conversations }: { conversations: ConversationStore | null }): ConversationStore => conversations!;

const keep = (store: ConversationStore, conversation = 'c1', home = join(root, 'home')): Promise<string | null> =>
  keepConversation(join(root, 'kept'), { taskId: 'tsk_1', home, store, conversation });

/** What a program of a new environment finds in its home. */
const carried = async (store: ConversationStore, workdir: string): Promise<Record<string, string>> => {
  const files: Record<string, string> = {};
  const writeHomeFile: Environment['writeHomeFile'] = async (path, content) => {
    files[path] = Buffer.from(content as Uint8Array).toString();
  };
  await carryConversation(join(root, 'kept'), { taskId: 'tsk_1', store, environment: { workdir, writeHomeFile } as Environment });
  return files;
};

describe('the conversation of a task', () => {
  it('of Codex that goes on from another one is kept with that one, and not without it', async () => {
    const store = storeOf(codexHarness);
    const at = (name: string): string => `.codex/sessions/2026/12/01/rollout-2026-12-01T10-00-00-${name}.jsonl`;
    const from = (base: string): string => `${JSON.stringify({ payload: { history_base: { thread_id: base } } })}\nmore\n`;
    const all = { [at('c1')]: from('c2'), [at('c2')]: from('c3'), [at('c3')]: '{"payload":{}}\nfirst\n' };
    for (const [path, content] of Object.entries(all)) put(join(root, 'home', path), content);
    put(join(root, 'home', at('c4')), 'not of it');
    expect(await keep(store)).toBe(null);
    expect(await carried(store, '/new')).toEqual(all);
    rmSync(join(root, 'home', at('c3')));
    expect(await keep(store)).toMatch(/is gone/);
  });

  it('that is written to is kept up to its last whole line', async () => {
    const store = storeOf(codexHarness);
    const path = '.codex/sessions/2026/12/01/rollout-2026-12-01T10-00-00-c1.jsonl';
    put(join(root, 'home', path), '{"a":1}\n{"b"');
    const given = { taskId: 'tsk_1', home: join(root, 'home'), store, conversation: 'c1', written: true } as const;
    expect(await keepConversation(join(root, 'kept'), given)).toBe(null);
    expect(await carried(store, '/new')).toEqual({ [path]: '{"a":1}\n' });
  });

  it.each([
    {
      name: 'claude',
      store: storeOf(claudeHarness),
      before: { '.claude/projects/-old-tree/c1.jsonl': 'said', '.claude/projects/-old-tree/c1/tool-results/a.txt': 'big' },
      after: { '.claude/projects/-new-tree-1/c1.jsonl': 'said', '.claude/projects/-new-tree-1/c1/tool-results/a.txt': 'big' },
      others: ['.claude/projects/-old-tree/c2.jsonl', '.claude.json', '.claude/.credentials.json'],
    },
    {
      name: 'codex',
      store: storeOf(codexHarness),
      before: { '.codex/sessions/2026/12/01/rollout-2026-12-01T10-00-00-c1.jsonl': 'said' },
      after: { '.codex/sessions/2026/12/01/rollout-2026-12-01T10-00-00-c1.jsonl': 'said' },
      others: ['.codex/sessions/2026/12/01/rollout-2026-12-01T10-00-00-c2.jsonl', '.codex/auth.json', '.codex/config.toml'],
    },
    {
      name: 'pi',
      store: storeOf(piHarness),
      before: {
        '.pi/agent/sessions/--old-tree--/2026_c1.jsonl': '{"type":"session","id":"c1","cwd":"/old/tree"}\n{"type":"m"}\n',
      },
      after: {
        '.pi/agent/sessions/--new-tree.1--/2026_c1.jsonl': '{"type":"session","id":"c1","cwd":"/new/tree.1"}\n{"type":"m"}\n',
      },
      others: ['.pi/agent/sessions/--old-tree--/2026_c2.jsonl', '.pi/agent/auth.json', '.pi/agent/models.json'],
    },
  ])('of $name is kept with nothing beside it, and put where the program looks in another place', async (given) => {
    const { store, before, after, others } = given;
    for (const [path, content] of Object.entries(before)) put(join(root, 'home', path), content);
    for (const path of others) put(join(root, 'home', path), 'not of it');
    expect(await keep(store)).toBe(null);
    expect(await carried(store, '/new/tree.1')).toEqual(after);
  });

  it('is read through no link and from no pipe: what is no plain file in a plain folder is not of it', async () => {
    const store = storeOf(claudeHarness);
    put(join(root, 'outside/-tree/c1.jsonl'), 'secret');
    mkdirSync(join(root, 'home/.claude'), { recursive: true });
    symlinkSync(join(root, 'outside'), join(root, 'home/.claude/projects'));
    expect(await keep(store)).toContain('is not kept');
    mkdirSync(join(root, 'second/.claude/projects/-tree'), { recursive: true });
    symlinkSync(join(root, 'outside/-tree/c1.jsonl'), join(root, 'second/.claude/projects/-tree/c1.jsonl'));
    expect(await keep(store, 'c1', join(root, 'second'))).toContain('is not kept');
    expect(isConversationKept(join(root, 'kept'), 'tsk_1')).toBe(false);
  });

  it('beyond its bound is not kept, said so, and an earlier one is not taken for it', async () => {
    const store = storeOf(codexHarness);
    put(join(root, 'home/.codex/sessions/x-c1.jsonl'), 'short');
    expect([await keep(store), isConversationKept(join(root, 'kept'), 'tsk_1')]).toEqual([null, true]);
    put(join(root, 'home/.codex/sessions/x-c1.jsonl'), 'a'.repeat(CONVERSATION_BYTES + 1));
    expect(await keep(store)).toContain(`At most ${CONVERSATION_BYTES} bytes`);
    expect(isConversationKept(join(root, 'kept'), 'tsk_1')).toBe(false);
    await expect(carried(store, '/tree')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('goes when it was kept by a node that died before it made the session, and no other', async () => {
    put(join(root, 'home/.codex/sessions/x-c1.jsonl'), 'said');
    const given = { home: join(root, 'home'), store: storeOf(codexHarness), conversation: 'c1' };
    for (const taskId of ['ses_made', 'ses_unmade', 'ses_new', 'tsk_1'])
      expect(await keepConversation(join(root, 'kept'), { ...given, taskId })).toBe(null);
    for (const name of ['ses_made', 'ses_unmade', 'tsk_1']) utimesSync(join(root, 'kept', `${name}.json.gz`), 1000, 1000);
    const isMade = async (id: string): Promise<boolean> => id === 'ses_made';
    expect(await dropUnmade(join(root, 'kept'), { beforeMs: 1_000_001, isMade })).toBe(1);
    expect(readdirSync(join(root, 'kept')).toSorted()).toEqual(['ses_made.json.gz', 'ses_new.json.gz', 'tsk_1.json.gz']);
    expect(await dropUnmade(join(root, 'nowhere'), { beforeMs: 1_000_001, isMade })).toBe(0);
  });

  it('goes after its days', async () => {
    put(join(root, 'home/.codex/sessions/x-c1.jsonl'), 'said');
    await keep(storeOf(codexHarness));
    const file = join(root, 'kept', readdirSync(join(root, 'kept'))[0]!);
    utimesSync(file, 1000, 1000);
    await dropConversations(join(root, 'kept'), 1_000_001);
    expect(existsSync(file)).toBe(false);
    await dropConversations(join(root, 'nowhere'), 1_000_000);
  });
});
