import type { SessionView } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { node } from '../state/node.ts';
import { Button } from './button.tsx';
import { Failed } from './states.tsx';

/** The usage limit that keeps what waits from being sent. */
export const Limit = ({ limit }: Pick<SessionView, 'limit'>) =>
  limit === null ? null : (
    <span className="text-careful">
      ! usage limit of {limit.account} until <time dateTime={limit.until}>{new Date(limit.until).toLocaleString()}</time>
      {limit.told ? null : ' (the provider did not say until when)'}
    </span>
  );

/** The same with the way past it. */
export const LimitWithWay = ({ session }: { readonly session: SessionView }) => {
  const queries = useQueryClient();
  const resume = useMutation({
    mutationFn: () => node.call('sessionResume', { params: { id: session.id }, body: {} }),
    onSettled: () => queries.invalidateQueries(),
  });
  if (session.limit === null) return null;
  return (
    <div className="flex w-full flex-wrap items-baseline gap-2">
      <Limit limit={session.limit} />
      <Button disabled={resume.isPending} onClick={() => resume.mutate()}>
        Send it all the same
      </Button>
      {resume.error === null ? null : <Failed error={resume.error} />}
    </div>
  );
};
