import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Failed } from '../parts/states.tsx';
import { node } from '../state/node.ts';

type ApplyWorkProps = {
  readonly environment: { readonly id: string; readonly name: string };
  /** Nobody works there just now. */
  readonly still: boolean;
};

const useApply = (id: string, { message, branch }: { readonly message: string; readonly branch: string }) =>
  useMutation({
    mutationFn: (mode: 'tree' | 'branch') =>
      node.call('environmentApply', {
        params: { id },
        body: {
          mode,
          ...(message.trim() === '' ? {} : { message: message.trim() }),
          ...(mode === 'branch' && branch.trim() !== '' ? { branch: branch.trim() } : {}),
        },
        timeoutMs: 120_000,
      }),
  });

/** Brings what an environment holds into the repository: as one commit on top of the agent's own, where it left files uncommitted. */
export const ApplyWork = ({ environment: { id, name }, still }: ApplyWorkProps) => {
  const [message, setMessage] = useState('');
  const [branch, setBranch] = useState('');
  const apply = useApply(id, { message, branch });
  const closed = apply.isPending || !still;
  return (
    <section aria-label="Apply" className="mt-3 border-t border-line px-2 pt-2">
      <h2 className="font-semibold">Apply</h2>
      <p className="text-quiet">Into your repository; a tree with changes of your own is left alone. Nothing is pushed.</p>
      <input
        aria-label="Message of the commit"
        placeholder={`Changes of ${name}`}
        value={message}
        onChange={({ target }) => setMessage(target.value)}
        className="my-1 h-7 w-full rounded border border-line bg-ground px-2"
      />
      <Button look="main" disabled={closed} onClick={() => apply.mutate('tree')}>
        {apply.isPending ? 'Applying …' : 'Apply to the checked-out branch'}
      </Button>
      <form
        className="flex gap-2 py-1"
        onSubmit={(event) => {
          event.preventDefault();
          apply.mutate('branch');
        }}
      >
        <input
          aria-label="Name of the branch"
          placeholder="its own branch"
          value={branch}
          onChange={({ target }) => setBranch(target.value)}
          className="h-7 min-w-0 flex-1 rounded border border-line bg-ground px-2 font-mono"
        />
        <Button type="submit" disabled={closed}>
          As a branch
        </Button>
      </form>
      <Outcome note={apply.data?.note ?? null} error={apply.error} />
    </section>
  );
};

const Outcome = ({ note, error }: { readonly note: string | null; readonly error: Error | null }) => (
  <>
    {note === null ? null : (
      <p role="status" className="said text-good">
        ✓ {note}
      </p>
    )}
    {error === null ? null : <Failed error={error} />}
  </>
);
