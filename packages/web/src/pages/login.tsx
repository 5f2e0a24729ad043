import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Empty, Failed } from '../parts/states.tsx';
import { node } from '../state/node.ts';

/** Takes the key of a link out of the address, so that it stays in no history. */
const keyOfAddress = (): string | null => {
  const key = location.hash.slice(1);
  history.replaceState(null, '', '/login');
  return key === '' ? null : key;
};

/** Lets this browser in by a link. A person says so: a page that is loaded ahead does not use the link up. */
export const LoginPage = () => {
  const [key] = useState(keyOfAddress);
  const enter = useMutation({ mutationFn: (given: string) => node.call('loginEnter', { body: { key: given } }) });
  useEffect(() => {
    if (enter.isSuccess) location.replace('/');
  }, [enter.isSuccess]);
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center px-4 text-center">
      <h1 className="mb-4 text-lg font-semibold">Orrery</h1>
      {key === null ? (
        <Empty command="orrery open">Ask for a link where the node runs:</Empty>
      ) : (
        <Button look="main" autoFocus disabled={enter.isPending || enter.isSuccess} onClick={() => enter.mutate(key)}>
          Let this browser in
        </Button>
      )}
      {enter.error === null ? null : <Failed known error={enter.error} />}
    </main>
  );
};
