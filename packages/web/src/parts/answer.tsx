import type { UseQueryResult } from '@tanstack/react-query';
import { Failed, Loading } from './states.tsx';

/** What is known of an answer of the node. */
export type Known<Data> = Pick<UseQueryResult<Data>, 'data' | 'error' | 'dataUpdatedAt'>;

type AnswerProps<Data> = {
  readonly query: Known<Data>;
  readonly children: (data: Data) => React.ReactNode;
};

/** What the node answered: on its way, failed, or there; what is there stays in sight when asking again fails, and says that it may be old. */
export const Answer = <Data,>({ query: { data, error, dataUpdatedAt }, children }: AnswerProps<Data>): React.ReactNode => {
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} />;
  return (
    <>
      {error === null ? null : (
        <>
          <Failed error={error} />
          <p className="text-careful">! what follows is of {new Date(dataUpdatedAt).toLocaleTimeString()}</p>
        </>
      )}
      {children(data)}
    </>
  );
};
