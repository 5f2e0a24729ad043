import type { EnvironmentView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Failed } from '../parts/states.tsx';
import { Sure } from '../parts/sure.tsx';
import { node, requestId } from '../state/node.ts';

/** One action on an environment; what is shown is asked for again when it was answered. */
const useAct = <Given,>(act: (given: Given) => Promise<unknown>, done?: () => void) => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: () => done?.(),
    onSettled: () => void queries.invalidateQueries(),
  });
};

/** What can be done to an environment now. */
export const Actions = ({ environment }: { readonly environment: EnvironmentView }) => {
  const { id, operation, taskId } = environment;
  const body = {};
  const start = useAct(() => node.call('environmentStart', { params: { id }, body }));
  const stop = useAct(() => node.call('environmentStop', { params: { id }, body }));
  const recreate = useAct(() => node.call('environmentRecreate', { params: { id }, body }));
  const busy = operation !== null || [start, stop, recreate].some(({ isPending }) => isPending);
  const error = start.error ?? stop.error ?? recreate.error;
  return (
    <>
      <div className="my-2 flex flex-wrap items-center gap-2">
        {environment.state === 'stopped' || environment.state === 'failed' ? (
          <Button look="main" disabled={busy} onClick={() => start.mutate(undefined)}>
            Start
          </Button>
        ) : (
          <Button disabled={busy || taskId !== null} onClick={() => stop.mutate(undefined)}>
            Stop
          </Button>
        )}
        <SetUpAgain environment={environment} busy={busy} />
        <Fork environment={environment} busy={busy} />
        <Rename environment={environment} />
        <Sure
          name="Recreate"
          says="A fresh checkout and an empty home; unsaved work is saved first."
          disabled={busy || taskId !== null}
          act={() => recreate.mutate(undefined)}
        />
        <Delete environment={environment} busy={busy} />
      </div>
      {error === null ? null : <Failed error={error} />}
    </>
  );
};

/** A set-up that failed is run again, or done without. */
const SetUpAgain = ({ environment: { id, setup }, busy }: { readonly environment: EnvironmentView; readonly busy: boolean }) => {
  const again = useAct((override: boolean) => node.call('environmentSetup', { params: { id }, body: { override } }));
  if (setup.state !== 'failed') return null;
  return (
    <>
      <Button disabled={busy || again.isPending} onClick={() => again.mutate(false)}>
        Set up again
      </Button>
      <Button disabled={busy || again.isPending} onClick={() => again.mutate(true)}>
        Go on without the set-up
      </Button>
      {again.error === null ? null : <Failed error={again.error} />}
    </>
  );
};

const Fork = ({ environment, busy }: { readonly environment: EnvironmentView; readonly busy: boolean }) => {
  const navigate = useNavigate();
  const fork = useAct(async () => {
    const copy = await node.call('environmentFork', { params: { id: environment.id }, body: { requestId: requestId() } });
    await navigate({ to: '/environments/$id', params: { id: copy.id } });
  });
  return (
    <>
      <Button disabled={busy || fork.isPending} onClick={() => fork.mutate(undefined)}>
        Fork
      </Button>
      {fork.error === null ? null : <Failed error={fork.error} />}
    </>
  );
};

const Rename = ({ environment }: { readonly environment: EnvironmentView }) => {
  const [name, setName] = useState<string | null>(null);
  const rename = useAct(
    (to: string) => node.call('environmentSet', { params: { id: environment.id }, body: { name: to } }),
    () => setName(null),
  );
  if (name === null) return <Button onClick={() => setName(environment.name)}>Rename</Button>;
  return (
    <form
      className="inline-flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate(name);
      }}
    >
      <input
        aria-label="New name"
        autoFocus
        value={name}
        onChange={({ target }) => setName(target.value)}
        className="h-7 rounded border border-line bg-ground px-2"
      />
      <Button type="submit" disabled={rename.isPending || name === environment.name}>
        Rename
      </Button>
      <Button onClick={() => setName(null)}>Leave it</Button>
      {rename.error === null ? null : <Failed error={rename.error} />}
    </form>
  );
};

const isUnsaved = (error: unknown): boolean => error instanceof OrreryError && error.code === 'unsaved_work';

/** Gone at once when it holds nothing of its own; else the node refuses, says what would be lost, and saving is offered. */
const Delete = ({ environment, busy }: { readonly environment: EnvironmentView; readonly busy: boolean }) => {
  const navigate = useNavigate();
  const remove = useAct(
    (salvage: boolean) =>
      node.call('environmentDelete', { params: { id: environment.id }, query: { salvage: salvage ? 'true' : 'false' } }),
    () => void navigate({ to: '/environments' }),
  );
  const disabled = busy || remove.isPending || environment.taskId !== null;
  return (
    <>
      <Sure
        name="Delete"
        says="Its files and home go. Work that nothing else has keeps it."
        disabled={disabled}
        act={() => remove.mutate(false)}
      />
      {remove.error === null ? null : <Failed error={remove.error} />}
      {isUnsaved(remove.error) ? (
        <Button look="bad" disabled={disabled} onClick={() => remove.mutate(true)}>
          Save that work, then delete
        </Button>
      ) : null}
    </>
  );
};
