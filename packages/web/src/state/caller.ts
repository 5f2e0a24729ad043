import { useQuery } from '@tanstack/react-query';
import { node } from './node.ts';

/** Whether this browser may change things; false until the node said so. */
export const useMayAct = (): boolean => {
  const { data } = useQuery({ queryKey: ['caller'], queryFn: () => node.call('callerShow') });
  return data !== undefined && data.scope !== 'viewer';
};
