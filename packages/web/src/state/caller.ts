import { useQuery } from '@tanstack/react-query';
import { node } from './node.ts';

const useScope = () => useQuery({ queryKey: ['caller'], queryFn: () => node.call('callerShow') }).data?.scope;

/** Whether this browser may change things; false until the node said so. */
export const useMayAct = (): boolean => {
  const scope = useScope();
  return scope !== undefined && scope !== 'viewer';
};

/** Whether this browser is the owner's; false until the node said so. */
export const useIsOwner = (): boolean => useScope() === 'owner';
