import type {
  MergeMethod,
  PullRequest,
  PullRequestMerged,
  PullRequestOpen,
  PullRequestOpened,
  PullRequestOutlook,
} from '@orrery/protocol';
import { inertLine } from '../inert.ts';
import type { Screen } from '../screen.ts';
import type { CommandInput, OptionSpec, Outcome } from './command.ts';

/** A push, and hooks of the host: longer than any other call. */
export const PULL_REQUEST_MS = 12 * 60_000;

/** Options of the verbs that open one. */
export const pullRequestOptions: readonly OptionSpec[] = [
  { name: 'title', kind: 'text', value: 'TEXT', summary: 'its title (default: the first words of the prompt)' },
  {
    name: 'body',
    kind: 'text',
    value: 'TEXT',
    summary: 'its text, as Markdown (default: the last words of the agent, and the verdict)',
  },
  { name: 'draft', kind: 'flag', summary: 'open it as a draft' },
  {
    name: 'base',
    kind: 'text',
    value: 'BRANCH',
    summary: 'the branch it goes into (default: where the work began, else the default branch of the host)',
  },
  { name: 'branch', kind: 'text', value: 'NAME', summary: 'the branch that is pushed (default: orrery/<id>)' },
];

/** Options of the verbs that merge one. */
export const mergeOptions: readonly OptionSpec[] = [
  {
    name: 'method',
    kind: 'text',
    value: 'METHOD',
    summary: 'how it is merged (default: the first that the repository allows)',
    choices: ['merge', 'squash', 'rebase'],
  },
];

/** What is merged: the commit that the host has now, as it was just told. */
export const mergeBody = (input: CommandInput, { standing, pullRequest }: PullRequestOutlook) => {
  const method = input.text('method') as MergeMethod | null;
  const headSha = standing?.headSha ?? pullRequest?.headSha ?? '0'.repeat(40);
  return { headSha, ...(method === null ? {} : { method }) };
};

/** What came of merging one. */
export const mergedText = (screen: Screen, merged: PullRequestMerged): Outcome => ({
  result: merged,
  text: `${screen.good('✓')} ${merged.outcome === 'merged' ? 'merged' : 'was merged already'}  ${pullRequestText(merged.pullRequest) ?? ''}`,
  hints: [],
});

/** What of the options is sent. */
export const pullRequestBody = (input: CommandInput): PullRequestOpen => {
  const texts = { title: input.text('title'), body: input.text('body'), base: input.text('base'), branch: input.text('branch') };
  const given = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== null));
  return { ...given, draft: input.flag('draft') };
};

/** One as a fact: `#7 open  https://…`. */
export const pullRequestText = (pull: PullRequest | null): string | null => {
  if (pull === null) return null;
  if (pull.number === null) return `begun, not known to be open: run the same command again (${inertLine(pull.branch)})`;
  return `#${pull.number} ${pull.state}${pull.draft ? ' (draft)' : ''}  ${inertLine(pull.url ?? '')}`;
};

/** What came of opening one. */
export const openedText = (screen: Screen, opened: PullRequestOpened): Outcome => {
  const { pullRequest, outcome, note } = opened;
  const mark = outcome === 'unchanged' ? ' ' : screen.good('✓');
  return {
    result: opened,
    text: `${mark} ${outcome}  ${pullRequestText(pullRequest) ?? ''}\n  ${inertLine(pullRequest.title)}\n  ${inertLine(note)}`,
    hints: [],
  };
};
