import { codeHostSuite } from '../../../test/code-host-suite.ts';
import { openHostPlace, workOf } from '../../../test/code-host-place.ts';

codeHostSuite('github (a stand-in that speaks it)', async () => {
  const place = await openHostPlace();
  const commit = (attempt: number): Promise<string> =>
    workOf(place, { taskId: 'tsk_a', attempt, files: { 'new.txt': `${attempt}\n` } });
  const commits = [await commit(1), await commit(2), await commit(3)] as const;
  const remote = `${place.server.origin}/acme/site.git`;
  const { host, repository } = place.hosts.ofRemotes([remote], 'site');
  return {
    ...{ host, repository, remote, commits, branches: 'try-' },
    mirror: place.node.workspace.mirrorOf(place.projectId),
    close: place.close,
  };
});
