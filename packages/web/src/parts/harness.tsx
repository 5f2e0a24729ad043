import type { HarnessView } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { visible } from '../review/inert.ts';
import { useIsOwner } from '../state/caller.ts';
import { node } from '../state/node.ts';
import { Ago } from './ago.tsx';
import { Answer } from './answer.tsx';
import { Button } from './button.tsx';
import { Facts, Line, Mark } from './facts.tsx';
import { PaidBy, ProgramLogin } from './program-login.tsx';
import { Failed } from './states.tsx';

/** Whether a program of this node's own choice is still to be fetched. */
const isToInstall = ({ pinnedVersion, installedVersion }: HarnessView): boolean =>
  pinnedVersion !== null && installedVersion === null;

/** One agent program: whether it is there, and what it can. */
export const Harness = ({ harness }: { readonly harness: HarnessView }) => {
  const [open, setOpen] = useState(false);
  const { id, summary, isDefault, provenance, verified } = harness;
  return (
    <li className="border-b border-line py-1">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <span className="w-20 font-semibold">{id}</span>
        {isToInstall(harness) ? <span className="text-quiet">– not installed</span> : <There harness={harness} />}
        {verified ? null : <Mark held="careful">unverified: no turn of it ended well here yet</Mark>}
        {isDefault ? <span className="text-quiet">default</span> : null}
        {provenance === 'built-in' ? null : <span className="text-quiet">from {provenance}</span>}
        <PaidBy paidBy={harness.paidBy} />
        <span className="said text-quiet">{visible(summary)}</span>
        {isToInstall(harness) ? <Install id={id} /> : null}
      </div>
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="cursor-pointer text-quiet">What {id} can, and who pays it</summary>
        {open ? (
          <>
            <ProgramLogin id={id} />
            <Able harness={harness} />
          </>
        ) : null}
      </details>
    </li>
  );
};

/** Whether its program was found: an own installation may be missing. */
const There = ({ harness: { program, installedVersion } }: { readonly harness: HarnessView }) => {
  if (installedVersion !== null) return <Mark held="good">installed {installedVersion}</Mark>;
  return program === null ? (
    <Mark held="good">there</Mark>
  ) : (
    <span className="text-quiet">– not found on the machine of the node</span>
  );
};

const Install = ({ id }: { readonly id: string }) => {
  const queries = useQueryClient();
  const owner = useIsOwner();
  const install = useMutation({
    mutationFn: () => node.call('harnessInstall', { params: { id }, body: {} }),
    onSuccess: () => queries.invalidateQueries(),
  });
  if (!owner) return <Line>{`orrery harness install ${id}`}</Line>;
  return (
    <>
      <Button disabled={install.isPending} aria-label={`Install ${id}`} onClick={() => install.mutate()}>
        {install.isPending ? 'Installing …' : 'Install'}
      </Button>
      {install.error === null ? null : <Failed error={install.error} />}
    </>
  );
};

const gates = {
  before: 'each can be decided before it happens',
  after: 'known when it has happened',
  none: 'none can be decided',
} as const;

const wordOf = (value: boolean | string | readonly string[]): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : typeof value === 'string' ? value : value.join(', ');

/** A name of the adapter's in words: `fullScreen` → `full screen`. */
const spaced = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const Able = ({ harness }: { readonly harness: HarnessView }) => {
  const { id, program, pinnedVersion, defaultModel, toolGate, capabilities, missing } = harness;
  return (
    <>
      <Facts
        facts={[
          ['program', program ?? 'built in, or your own'],
          ['pinned', pinnedVersion],
          ['model', defaultModel],
          ['tool calls', toolGate === null ? null : gates[toolGate]],
          ...Object.entries(capabilities).map(([name, value]) => [spaced(name), wordOf(value)] as const),
          ...missing.map(({ what, why }) => [`no ${spaced(what)}`, why] as const),
        ]}
      />
      <Models id={id} />
    </>
  );
};

/** Models that it reported last; looking wakes nothing. */
const Models = ({ id }: { readonly id: string }) => {
  const query = useQuery({
    queryKey: ['harness', id, 'models'],
    queryFn: () => node.call('harnessModels', { params: { id } }),
  });
  return (
    <Answer query={query}>
      {({ models, provenance, reportedAt }) =>
        models.length === 0 ? (
          <p className="text-quiet">It has reported no models yet.</p>
        ) : (
          <>
            <p className="mt-1 text-quiet">
              Models it reported ({provenance === 'stale' ? 'in another version' : provenance}
              {reportedAt === null ? '' : ', '}
              {reportedAt === null ? null : <Ago at={reportedAt} />}):
            </p>
            <ul className="max-h-48 overflow-auto" tabIndex={0} aria-label={`Models of ${id}`}>
              {models.map((model) => (
                <li key={model.id} className="said">
                  <code className="font-mono">{visible(model.id)}</code>{' '}
                  <span className="text-quiet">{[visible(model.name), ...model.efforts.map(visible)].join(' · ')}</span>
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Answer>
  );
};
