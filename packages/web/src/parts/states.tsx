import { isUnknown, linesOf } from '../state/node.ts';

/** What is empty says what to do. */
export const Empty = ({ children, command }: { readonly children: React.ReactNode; readonly command?: string }) => (
  <div className="py-10 text-center text-quiet">
    <p>{children}</p>
    {command === undefined ? null : <code className="mt-2 inline-block rounded bg-raised px-2 py-1 font-mono">{command}</code>}
  </div>
);

export const Loading = () => (
  <p className="py-10 text-center text-quiet" role="status">
    Loading …
  </p>
);

/** What failed, the rule, the fix. Who is not let in is told how to be, unless `known`: the page says it. */
export const Failed = ({ error, known = false }: { readonly error: unknown; readonly known?: boolean }) => {
  if (isUnknown(error) && !known)
    return <Empty command="orrery open">This browser is not let in. Ask for a link where the node runs:</Empty>;
  const [what, ...rest] = linesOf(error);
  return (
    <div role="alert" className="my-2 rounded border border-bad px-3 py-2">
      <p className="font-semibold text-bad">{what}</p>
      {rest.map((line) => (
        <p key={line} className="said text-quiet">
          {line}
        </p>
      ))}
    </div>
  );
};

/** A list that was there and could not be asked for again. */
export const Stale = ({ error }: { readonly error: unknown }) =>
  error === null ? null : (
    <>
      <p className="text-careful">! What is shown may be old.</p>
      <Failed error={error} />
    </>
  );

const looks: Readonly<Record<string, readonly [mark: string, look: string]>> = {
  running: ['●', 'text-accent'],
  starting: ['●', 'text-accent'],
  waiting: ['!', 'text-careful'],
  failed: ['✗', 'text-bad'],
  rejected: ['✗', 'text-bad'],
  uncertain: ['!', 'text-careful'],
  limit: ['!', 'text-careful'],
  interrupted: ['!', 'text-careful'],
  'to review': ['●', 'text-accent'],
  open: ['●', 'text-accent'],
  accepted: ['✓', 'text-good'],
  attached: ['○', 'text-quiet'],
  idle: ['○', 'text-quiet'],
  dormant: ['○', 'text-quiet'],
  ended: ['–', 'text-quiet'],
  ready: ['✓', 'text-good'],
  passed: ['✓', 'text-good'],
  creating: ['●', 'text-accent'],
  'setting-up': ['●', 'text-accent'],
  deleting: ['●', 'text-accent'],
  stopped: ['○', 'text-quiet'],
};

/** A state as mark, word and colour. */
export const State = ({ state }: { readonly state: string }) => {
  const [mark, look] = looks[state] ?? ['·', 'text-quiet'];
  return (
    <span className={`inline-flex items-baseline gap-1 whitespace-nowrap ${look}`}>
      <span aria-hidden="true">{mark}</span>
      {state}
    </span>
  );
};
