import type { MergeMethod, PullRequest, PullRequestStanding } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Failed } from '../parts/states.tsx';
import { Sure } from '../parts/sure.tsx';
import { node } from '../state/node.ts';

type Check = PullRequestStanding['checks'][number];

const marks: Readonly<Record<Check['state'], readonly [mark: string, look: string]>> = {
  failed: ['✗', 'text-bad'],
  pending: ['●', 'text-accent'],
  passed: ['✓', 'text-good'],
  skipped: ['–', 'text-quiet'],
};

const inShort: Readonly<Record<PullRequestStanding['state'], readonly [words: string, look: string]>> = {
  none: ['no checks', 'text-quiet'],
  pending: ['checks are running', 'text-accent'],
  passed: ['checks passed', 'text-good'],
  failed: ['checks failed', 'text-bad'],
  unknown: ['checks are not known: the token may not read them', 'text-careful'],
};

/** What keeps it from being merged, and what to do about it. */
const against: Readonly<Record<PullRequestStanding['merging'], string | null>> = {
  clean: null,
  conflicts: 'It conflicts with its base: have the agent bring the base in, then push what is there.',
  blocked: 'A rule of the host is against it: a review or a check that it wants is missing.',
  behind: 'Its base went on, and a rule of the host wants that brought in.',
  draft: 'It is a draft: mark it ready at the host.',
  unknown: 'The host has not found out yet whether it can be merged.',
};

/** How one that is open stands at its host, and the way to merge it. */
export const AtHost = (props: {
  readonly subject: Pick<MergeProps, 'kind' | 'id'>;
  readonly pull: PullRequest | null;
  readonly standing: PullRequestStanding | null;
  readonly mayAct: boolean;
}) => {
  const { subject, pull, standing, mayAct } = props;
  if (pull?.state !== 'open' || standing === null) return null;
  return (
    <>
      <Standing standing={standing} />
      {mayAct ? <Merge key={standing.headSha} kind={subject.kind} id={subject.id} pull={pull} standing={standing} /> : null}
    </>
  );
};

/** Its checks, and what keeps it from being merged. */
const Standing = ({ standing }: { readonly standing: PullRequestStanding }) => {
  const [words, look] = inShort[standing.state];
  const why = against[standing.merging];
  return (
    <>
      {standing.checks.length === 0 ? (
        <p className={look}>{words}</p>
      ) : (
        <details open={standing.state === 'failed'}>
          <summary className={`cursor-pointer ${look}`}>
            {words}: {standing.total}
          </summary>
          <ul aria-label="Checks of the code host">
            {standing.checks.map((check, place) => (
              // Two services may name theirs alike.
              // eslint-disable-next-line react/no-array-index-key
              <Line key={place} check={check} />
            ))}
          </ul>
        </details>
      )}
      {why === null ? null : <p className="said text-careful">! {why}</p>}
    </>
  );
};

const Line = ({ check: { name, state, url } }: { readonly check: Check }) => (
  <li className="said">
    <span className={marks[state][1]}>
      <span aria-hidden="true">{marks[state][0]} </span>
      {state}
    </span>{' '}
    {url === null ? (
      name
    ) : (
      <a href={url} target="_blank" rel="noreferrer noopener" className="text-accent underline">
        {name} <span aria-label="leads elsewhere">↗</span>
      </a>
    )}
  </li>
);

type MergeProps = {
  readonly kind: 'task' | 'environment';
  readonly id: string;
  readonly pull: PullRequest;
  readonly standing: PullRequestStanding;
};

/** Has the host merge the commit that is shown, by a person's word that is said twice. */
const Merge = ({ kind, id, pull, standing }: MergeProps) => {
  const queries = useQueryClient();
  const [method, choose] = useState<MergeMethod>(standing.methods[0] ?? 'merge');
  const merge = useMutation({
    mutationFn: () => {
      const call = { params: { id }, body: { headSha: standing.headSha, method } };
      return kind === 'task' ? node.call('taskPullRequestMerge', call) : node.call('environmentPullRequestMerge', call);
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: [kind] });
      void queries.refetchQueries({ queryKey: ['pr', kind, id] });
    },
  });
  const can = standing.merging === 'clean' || standing.merging === 'unknown';
  return (
    <div className="flex flex-wrap items-center gap-2 py-1">
      <Sure
        name="Merge"
        says={`#${pull.number} at ${standing.headSha.slice(0, 10)} goes into ${pull.base}${standing.state === 'passed' ? '' : `; ${inShort[standing.state][0]}`}.`}
        disabled={!can || merge.isPending}
        act={() => merge.mutate()}
      />
      {standing.methods.length < 2 ? null : (
        <select
          aria-label="How it is merged"
          value={method}
          onChange={({ target }) => choose(standing.methods.find((one) => one === target.value) ?? method)}
          className="h-7 rounded border border-line bg-ground px-1"
        >
          {standing.methods.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      )}
      {merge.isPending ? <span className="text-quiet">● merging …</span> : null}
      {merge.error === null ? null : <Failed error={merge.error} />}
    </div>
  );
};
