import type { OrreryError } from '@orrery/protocol/errors';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CodeHost } from '../src/codehost/codehost.ts';

/** A code host and a repository of it that a suite may push to and open pull requests in. */
export type SuiteHost = {
  readonly host: CodeHost;
  readonly repository: string;
  /** An address of its remote. */
  readonly remote: string;
  /** A mirror that has the default branch, and commits on top of it: each has the one before as its parent. */
  readonly mirror: string;
  readonly commits: readonly [string, string, string];
  /** A beginning of names of branches that nobody else has. */
  readonly branches: string;
  close(): Promise<void>;
};

const failure = (work: Promise<unknown>): Promise<OrreryError | null> =>
  work.then(
    () => null,
    (thrown: OrreryError) => thrown,
  );

/** What every kind of code host does. It runs against a stand-in, and against a real one that somebody has an account at. */
export const codeHostSuite = (name: string, open: () => Promise<SuiteHost>): void => {
  describe(`the code host ${name}`, () => {
    let at: SuiteHost;
    beforeAll(async () => {
      at = await open();
    });
    afterAll(() => at.close());

    const push = async (branch: string, sha: string, before: string | null): Promise<void> =>
      at.host.push(at.repository, {
        ...{ mirror: at.mirror, branch, sha, before, has: (await at.host.branches(at.repository)).values() },
      });

    it('knows its own remotes, and no other', () => {
      expect(at.host.repositoryOf(at.remote)).toBe(at.repository);
      expect(at.host.repositoryOf('https://elsewhere.test/acme/site.git')).toBeNull();
      expect(at.host.repositoryOf('/srv/site.git')).toBeNull();
    });

    it('makes a branch, moves it, and sets it back, each from what it named before', async () => {
      const branch = `${at.branches}moves`;
      const named = async () => (await at.host.branches(at.repository)).get(branch);
      const [one, two, three] = at.commits;
      await push(branch, two, null);
      expect(await named()).toBe(two);
      await push(branch, three, two);
      expect(await named()).toBe(three);
      await push(branch, one, three);
      expect(await named()).toBe(one);
      for (const stale of [null, two])
        expect((await failure(push(branch, three, stale)))?.code).toMatch(/^codehost_(refused|unreachable)$/);
      expect(await named()).toBe(one);
    });

    it('opens a pull request once, shows and finds it', async () => {
      const branch = `${at.branches}opens`;
      const [one, two] = at.commits;
      await push(branch, one, null);
      const base = await at.host.defaultBranch(at.repository);
      const wanted = { title: 'A title', body: 'A text', branch, base, draft: false };
      expect(await at.host.find(at.repository, branch)).toEqual([]);
      const made = await at.host.create(at.repository, wanted);
      expect(made).toMatchObject({ title: 'A title', state: 'open', draft: false, branch, base, headSha: one });
      expect(await at.host.create(at.repository, wanted)).toBeNull();
      expect(await at.host.find(at.repository, branch)).toEqual([made]);
      await push(branch, two, one);
      expect(await at.host.view(at.repository, made?.number ?? 0)).toEqual({ ...made, headSha: two });
    });

    it('says how one stands, and merges the commit that was seen, once', async () => {
      const branch = `${at.branches}merges`;
      const [, , three] = at.commits;
      await push(branch, three, null);
      const base = await at.host.defaultBranch(at.repository);
      const made = await at.host.create(at.repository, { title: 'A title', body: '', branch, base, draft: false });
      const pull = { number: made?.number ?? 0, headSha: three };
      // A host finds out some seconds later whether it can be merged.
      const standing = await vi.waitFor(
        async () => {
          const now = await at.host.standing(at.repository, pull);
          expect(now.merging).toBe('clean');
          return now;
        },
        { timeout: 30_000, interval: 1_000 },
      );
      expect(standing.methods).toContain('merge');
      const wanted = { ...pull, method: 'merge' } as const;
      const stale = await failure(at.host.merge(at.repository, { ...wanted, headSha: at.commits[0] }));
      expect(stale?.code).toBe('codehost_refused');
      await at.host.merge(at.repository, wanted);
      expect((await at.host.view(at.repository, pull.number)).state).toBe('merged');
      expect((await failure(at.host.merge(at.repository, wanted)))?.code).toBe('codehost_refused');
    });

    it('refuses what it cannot have', async () => {
      const base = await at.host.defaultBranch(at.repository);
      const wanted = { title: 'A title', body: '', branch: `${at.branches}nowhere`, base, draft: false };
      expect((await failure(at.host.create(at.repository, wanted)))?.code).toBe('codehost_refused');
      expect((await failure(at.host.view(at.repository, 2_000_000_000)))?.code).toBe('codehost_refused');
      expect((await failure(at.host.branches(`${at.repository}-not-there`)))?.code).toBe('codehost_refused');
    });
  });
};
