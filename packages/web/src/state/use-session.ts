import { useQuery } from '@tanstack/react-query';
import { node } from './node.ts';

/** One session, by id or name. */
export const useSession = (name: string) =>
  useQuery({
    queryKey: ['session', name],
    queryFn: () => node.call('sessionShow', { params: { id: name } }),
  });
