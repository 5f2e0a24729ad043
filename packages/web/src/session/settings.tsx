import type { BodyOf, PermissionMode, SessionView } from '@orrery/protocol';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Failed } from '../parts/states.tsx';
import { visible } from '../review/inert.ts';
import { useMayAct } from '../state/caller.ts';
import { node } from '../state/node.ts';
import { effortsOf, useCatalogue } from './catalogue.ts';

const modes: readonly PermissionMode[] = ['ask', 'edits', 'all', 'plan'];

/** Changes one setting of a session; what its program refuses is said in its three lines. */
export const useSet = (id: string) => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: BodyOf<'sessionSet'>) => node.call('sessionSet', { params: { id }, body }),
    onSuccess: (session) => {
      queries.setQueryData(['session', session.id], session);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['session'] }),
  });
};

/** Model, effort and mode, each changed where it stands. */
export const Settings = ({ session }: { readonly session: SessionView }) => {
  const catalogue = useCatalogue(session.id);
  const set = useSet(session.id);
  const mayAct = useMayAct() && session.state !== 'ended';
  const fixed = !mayAct || set.isPending;
  const { model, effort, mode, effectiveModel, effectiveEffort, effectiveMode } = session;
  return (
    <>
      <Chosen
        {...{ name: 'model', now: effectiveModel ?? model, fixed, error: set.error }}
        choices={catalogue?.models.map(({ id }) => id) ?? []}
        choose={(chosen) => set.mutate({ model: chosen })}
      />
      <Chosen
        {...{ name: 'effort', now: effectiveEffort ?? effort, fixed, error: set.error }}
        choices={effortsOf(catalogue, session)}
        choose={(chosen) => set.mutate({ effort: chosen })}
      />
      <label className="inline-flex items-baseline gap-1 text-quiet">
        mode
        <select
          value={mode}
          disabled={fixed}
          onChange={({ target }) => {
            const chosen = modes.find((one) => one === target.value);
            if (chosen !== undefined) set.mutate({ mode: chosen });
          }}
          className={field}
        >
          {modes.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        {effectiveMode === null || effectiveMode === mode ? null : <span className="said">({visible(effectiveMode)})</span>}
      </label>
      {set.error === null ? null : (
        <div className="w-full">
          <Failed error={set.error} />
        </div>
      )}
    </>
  );
};

const field = 'h-6 rounded border border-line bg-ground px-1 text-ink disabled:opacity-60';

type ChosenProps = {
  readonly name: string;
  readonly now: string | null;
  readonly choices: readonly string[];
  readonly fixed: boolean;
  readonly error: unknown;
  readonly choose: (value: string) => void;
};

/** One of what the program offers, or anything else that is written: the node knows whether it is taken. */
const Chosen = ({ name, now, choices, fixed, error, choose }: ChosenProps) => {
  const list = useId();
  const [written, setWritten] = useState<string | null>(null);
  const give = (): void => {
    if (written !== null && written.trim() !== '' && written !== now) choose(written.trim());
    setWritten(null);
  };
  return (
    <label className="inline-flex min-w-0 items-baseline gap-1 text-quiet">
      {name}
      <input
        value={written ?? now ?? ''}
        placeholder="its own"
        disabled={fixed}
        aria-invalid={error !== null && written !== null}
        list={choices.length === 0 ? undefined : list}
        onFocus={({ target }) => target.select()}
        onChange={({ target }) => setWritten(target.value)}
        onBlur={() => setWritten(null)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setWritten(null);
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          event.preventDefault();
          give();
        }}
        className={`${field} ${name === 'model' ? 'w-44' : 'w-20'} max-w-full`}
      />
      <datalist id={list}>
        {choices.map((choice) => (
          <option key={choice} value={choice} />
        ))}
      </datalist>
      {written === null || written === (now ?? '') ? null : <span className="text-accent">Enter</span>}
    </label>
  );
};
