import type { BackendView } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { Answer } from '../parts/answer.tsx';
import { Line, Mark } from '../parts/facts.tsx';
import { NodePage } from '../parts/node-page.tsx';
import { node } from '../state/node.ts';

/** Places to run things: what each guarantees on this machine, and what it cannot stop. */
export const BackendsPage = () => {
  const query = useQuery({ queryKey: ['backends'], queryFn: () => node.call('backendList') });
  return (
    <NodePage name="Backends" command="orrery backend list">
      <Answer query={query}>
        {({ items }) => (
          <ul>
            {items.map((backend) => (
              <Backend key={backend.name} backend={backend} />
            ))}
          </ul>
        )}
      </Answer>
    </NodePage>
  );
};

const Backend = ({ backend }: { readonly backend: BackendView }) => {
  const { name, aliases, summary, isDefault, guarantees, cannotStop } = backend;
  return (
    <li className="mb-3 border-b border-line pb-3">
      <h2 className="flex flex-wrap items-baseline gap-x-3">
        <span className="font-semibold">{name}</span>
        <Whether backend={backend} />
        {isDefault ? <span className="text-quiet">default</span> : null}
        {aliases.length === 0 ? null : <span className="text-quiet">also {aliases.join(', ')}</span>}
      </h2>
      <p className="said text-quiet">{summary}</p>
      <Refused backend={backend} />
      {guarantees.length + cannotStop.length === 0 ? null : (
        <details open={isDefault} className="mt-1">
          <summary className="cursor-pointer text-quiet">
            {guarantees.filter(({ held }) => held).length} of {guarantees.length} guarantees hold here
            {cannotStop.length === 0 ? '' : `, ${cannotStop.length} things it cannot stop`}
          </summary>
          <ul className="mt-1">
            {guarantees.map(({ guarantee, held, by, missing }) => (
              <li key={guarantee} className="flex gap-x-3">
                <span className="w-24 shrink-0">
                  <Mark held={held ? 'good' : 'bad'}>{guarantee}</Mark>
                </span>
                <span className="said">{held ? by : `not held: ${missing ?? 'nobody said why'}`}</span>
              </li>
            ))}
            {cannotStop.map((text) => (
              <li key={text} className="said">
                <Mark held="careful">cannot stop:</Mark> {text}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
};

const Whether = ({ backend: { allowed, usable } }: { readonly backend: BackendView }) => {
  if (!allowed) return <Mark held="bad">not allowed</Mark>;
  return usable ? <Mark held="good">works here</Mark> : <Mark held="bad">does not work here</Mark>;
};

/** Why it cannot be used, and what changes that. */
const Refused = ({ backend: { allowed, usable, problem, fix } }: { readonly backend: BackendView }) => {
  if (!allowed)
    return (
      <p className="said">
        The operator lists what may be used: <Line>orrery config explain execution.allowedBackends</Line>
      </p>
    );
  if (usable) return null;
  return (
    <>
      <p className="said">{problem ?? 'Nobody said why.'}</p>
      {fix === null ? null : (
        <p>
          <Line>{fix}</Line>
        </p>
      )}
    </>
  );
};
