import type { LeftOut, PullRequest, PullRequestOpen, PullRequestOutlook } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useCommands } from '../commands/use-commands.ts';
import { LineField, WordsField } from '../forms/field.tsx';
import { Button } from '../parts/button.tsx';
import { Line } from '../parts/facts.tsx';
import { Failed } from '../parts/states.tsx';
import { node, requestId } from '../state/node.ts';
import { leftOutWords } from './left-out.ts';
import { AtHost } from './standing.tsx';

/** What a pull request is of: a task or an environment of its own. */
export type PullSubject = { readonly kind: 'task' | 'environment'; readonly id: string; readonly pull: PullRequest | null };

/** How often a host is asked that has not found out yet. */
const WAITS_MS = 20_000;

/** Longer than any other answer: a push, and what the host does with it. */
const PUSH_MS = 12 * 60_000;

/** Asked for when the page is there and when something came of one, and not at each event: the host is asked, too. */
const useOutlook = ({ kind, id, pull }: PullSubject) => {
  const params = { id };
  const query = { refresh: 'true' } as const;
  const outlook = useQuery({
    queryKey: ['pr', kind, id],
    queryFn: () =>
      kind === 'task' ? node.call('taskPullRequest', { params, query }) : node.call('environmentPullRequest', { params, query }),
    enabled: false,
    retry: false,
  });
  const { refetch, data } = outlook;
  const changedAt = pull?.changedAt;
  useEffect(() => void refetch(), [refetch, changedAt]);
  // What the host has not found out yet is asked for again; a page that is not seen asks nothing.
  const waits = data?.standing?.state === 'pending' || data?.standing?.merging === 'unknown';
  useEffect(() => {
    if (!waits) return undefined;
    const timer = setInterval(() => void (document.visibilityState === 'visible' && refetch()), WAITS_MS);
    return () => clearInterval(timer);
  }, [refetch, waits]);
  return outlook;
};

/** Opens it, or brings the one that is there up to date; a click that is sent again is done once. */
const useOpen = ({ kind, id }: PullSubject, done: () => void) => {
  const queries = useQueryClient();
  const request = useRef<string | null>(null);
  return useMutation({
    mutationFn: (asked: PullRequestOpen) => {
      request.current ??= requestId();
      const call = { params: { id }, body: { ...asked, requestId: request.current }, timeoutMs: PUSH_MS };
      return kind === 'task' ? node.call('taskPullRequestOpen', call) : node.call('environmentPullRequestOpen', call);
    },
    onSuccess: done,
    onSettled: () => {
      // What failed was not done, or is on record: another click is another request, which goes on from there.
      request.current = null;
      void queries.invalidateQueries();
      void queries.refetchQueries({ queryKey: ['pr', kind, id] });
    },
  });
};

const commandOf = ({ kind, id }: PullSubject): string => `orrery ${kind === 'task' ? 'task' : 'env'} pr ${id}`;

type PartProps = { readonly subject: PullSubject; readonly leftOut?: LeftOut; readonly mayAct: boolean };

const isOver = (pull: PullRequest | null): boolean => pull?.state === 'merged' || pull?.state === 'closed';

/** The pull request of a result: opened here, shown with its state, and brought up to what is there now. */
export const PullRequestPart = ({ subject, leftOut = [], mayAct }: PartProps) => {
  const { data, error, refetch } = useOutlook(subject);
  const [writing, setWriting] = useState(false);
  const open = useOpen(subject, () => setWriting(false));
  const pull = subject.pull ?? data?.pullRequest ?? null;
  const can = mayAct && data !== undefined && data.host !== null && data.problem === null && !open.isPending;
  const isNew = pull === null || pull.number === null;
  const without = { without: leftOut.map((one) => ({ ...one })) };
  const act = (): void => (isNew ? setWriting(true) : open.mutate(without));
  const does = isNew ? 'open a pull request' : `push to the pull request #${pull.number}`;
  useCommands([{ id: 'pull request', does, group: 'Do', keys: 'P', when: () => can && !isOver(pull), run: act }]);
  if (!mayAct && pull === null) return null;
  return (
    <section aria-label="Pull request" className="mt-3 mb-6 border-t border-line pt-2">
      <h2 className="font-semibold">Pull request</h2>
      {pull === null ? null : <Known pull={pull} />}
      <AtHost subject={subject} pull={pull} standing={data?.standing ?? null} mayAct={mayAct} />
      <Missing outlook={data} again={() => void refetch()} />
      {error === null ? null : <Failed error={error} />}
      {mayAct && !isOver(pull) && !writing ? (
        <Button disabled={!can} onClick={act}>
          {isNew ? 'Open pull request …' : 'Push what is there now'}
        </Button>
      ) : null}
      {writing && data !== undefined ? (
        <Form
          outlook={data}
          words={leftOutWords(leftOut)}
          pending={open.isPending}
          send={(asked) => open.mutate({ ...asked, ...without })}
          leave={() => setWriting(false)}
        />
      ) : null}
      <Came open={open} command={commandOf(subject)} />
    </section>
  );
};

const Came = ({ open, command }: { readonly open: ReturnType<typeof useOpen>; readonly command: string }) => (
  <>
    {open.isPending ? (
      <p role="status" className="text-quiet">
        ● It is pushed; a large one takes its time. In a terminal: <Line>{command}</Line>
      </p>
    ) : null}
    {open.data === undefined || open.isPending ? null : (
      <p role="status" className="said text-good">
        ✓ {open.data.outcome}. {open.data.note}
      </p>
    )}
    {open.error === null ? null : <Failed error={open.error} />}
  </>
);

const marks: Readonly<Record<PullRequest['state'], readonly [mark: string, look: string]>> = {
  pushing: ['!', 'text-careful'],
  creating: ['!', 'text-careful'],
  open: ['●', 'text-accent'],
  merged: ['✓', 'text-good'],
  closed: ['–', 'text-quiet'],
};

/** One as it is; the link leads out of the client, and says so. */
const Known = ({ pull }: { readonly pull: PullRequest }) => {
  const [mark, look] = marks[pull.state];
  const unknown = pull.number === null;
  return (
    <p className="said">
      <span className={look}>
        <span aria-hidden="true">{mark} </span>
        {unknown ? 'begun, and not known to be open: open it again, it is never opened twice' : pull.state}
        {pull.draft && !unknown ? ', a draft' : ''}
      </span>{' '}
      {pull.url === null ? null : (
        <a href={pull.url} target="_blank" rel="noreferrer noopener" className="text-accent underline">
          #{pull.number} {pull.title} <span aria-label="leads elsewhere">↗</span>
        </a>
      )}{' '}
      <span className="text-quiet">
        {pull.repository}: {pull.branch}
        {pull.base === null ? '' : ` into ${pull.base}`}
        {pull.headSha === null ? '' : `, at ${pull.headSha.slice(0, 10)}`}
      </span>
    </p>
  );
};

/** Why none can be opened now: what, the rule, the fix. */
const Missing = ({ outlook, again }: { readonly outlook: PullRequestOutlook | undefined; readonly again: () => void }) => {
  if (outlook === undefined || outlook.problem === null) return null;
  const { message, rule, fix } = outlook.problem;
  return (
    <div className="text-quiet">
      <p className="said text-careful">! {message}</p>
      {rule === null ? null : <p className="said">{rule}</p>}
      {fix === null ? null : <Line>{fix}</Line>}
      <p className="py-1">
        <Button onClick={again}>Look again</Button>
      </p>
    </div>
  );
};

type FormProps = {
  readonly outlook: PullRequestOutlook;
  /** What of the result is left out, in words; null: nothing. */
  readonly words: string | null;
  readonly pending: boolean;
  readonly send: (asked: PullRequestOpen) => void;
  readonly leave: () => void;
};

const Form = ({ outlook, words, pending, send, leave }: FormProps) => {
  const { suggested, host } = outlook;
  const [title, setTitle] = useState(suggested.title);
  const [body, setBody] = useState(suggested.body);
  const [base, setBase] = useState('');
  const [draft, setDraft] = useState(false);
  return (
    <form
      aria-label="A pull request"
      onSubmit={(event) => {
        event.preventDefault();
        send({ title: title.trim(), body, draft, ...(base.trim() === '' ? {} : { base: base.trim() }) });
      }}
    >
      <p className="said text-quiet">
        {suggested.branch} is pushed to {host?.repository} at {host?.name}.
        {words === null ? '' : ` ${words} left out: one commit with the rest.`}
      </p>
      <LineField label="Title" value={title} change={setTitle} focus />
      <WordsField label="Text" value={body} change={setBody} hint="Markdown" />
      <LineField
        label="Into"
        value={base}
        change={setBase}
        placeholder={suggested.base ?? ''}
        hint="Nothing: where the work began, if it is there, else the default branch."
      />
      <label className="flex items-baseline gap-2">
        <input type="checkbox" checked={draft} onChange={({ target }) => setDraft(target.checked)} /> as a draft
      </label>
      <div className="flex gap-2 py-2">
        <Button look="main" type="submit" disabled={pending || title.trim() === '' || title.length > 250}>
          Open pull request
        </Button>
        <Button onClick={leave}>Leave it</Button>
      </div>
    </form>
  );
};
