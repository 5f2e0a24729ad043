import type { BackendView } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { node } from '../state/node.ts';

/** Backends as this node has them; undefined while they are asked for. */
export const useBackends = (): readonly BackendView[] | undefined =>
  useQuery({ queryKey: ['backends'], queryFn: () => node.call('backendList') }).data?.items;

/** A backend and, in short, what it holds: all of it, or what it does not. */
export const Guarantees = (props: { readonly backend: string; readonly of: readonly BackendView[] | undefined }) => {
  const view = props.of?.find(({ name }) => name === props.backend);
  return (
    <span className="text-quiet">
      {props.backend}
      {view === undefined ? null : ` · ${inShort(view)}`}
    </span>
  );
};

const inShort = ({ guarantees }: BackendView): string => {
  const missing = guarantees.filter(({ held }) => !held).map(({ guarantee }) => guarantee);
  if (guarantees.length === 0) return 'guarantees unknown';
  if (missing.length === guarantees.length) return 'guarantees nothing';
  return missing.length === 0 ? 'holds all guarantees' : `without ${missing.join(', ')}`;
};
