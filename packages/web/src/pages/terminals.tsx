import type { TerminalView } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Previews } from '../parts/previews.tsx';
import { Empty, Failed, Loading, State } from '../parts/states.tsx';
import { Terminal } from '../parts/terminal.tsx';
import { visible } from '../review/inert.ts';
import { useMayAct } from '../state/caller.ts';
import { node } from '../state/node.ts';

/** How often programs that others start are looked for, ms. */
const LOOK_MS = 5_000;

const useTerminals = (id: string) =>
  useQuery({
    queryKey: ['terminals', id],
    queryFn: () => node.call('terminalList', { params: { id } }),
    refetchInterval: LOOK_MS,
  });

/** Shells, commands and full screens of one environment, or of where a task works; one of them is shown. */
export const TerminalsPage = () => {
  const { name } = useParams({ strict: false }) as { readonly name: string };
  const { data, error } = useTerminals(name);
  // A terminal stays where it is while the node is away.
  if (data === undefined) return error === null ? <Loading /> : <Failed error={error} />;
  return <Terminals key={name} environment={name} items={data.items} />;
};

type TerminalsProps = { readonly environment: string; readonly items: readonly TerminalView[] };

const Terminals = ({ environment, items }: TerminalsProps) => {
  const { terminal } = useSearch({ strict: false }) as { readonly terminal?: unknown };
  const mayAct = useMayAct();
  const { show, begun, open, again } = useOpening(environment);
  const shown = items.find(({ id }) => id === terminal) ?? items.findLast(({ state }) => state === 'running') ?? items.at(-1);
  return (
    <div className="flex h-[calc(100dvh-var(--head)-1.75rem-var(--tabs,0px))] flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line pb-2">
        <h1 className="said font-semibold">Terminals of {environment}</h1>
        <ul className="flex flex-wrap gap-1" aria-label="Terminals">
          {items.map((one) => (
            <li key={one.id}>
              <Tab view={one} isShown={one.id === shown?.id} show={show} />
            </li>
          ))}
        </ul>
        {mayAct ? (
          <>
            <Button look={items.length === 0 ? 'main' : 'plain'} disabled={open.isPending} onClick={() => open.mutate()}>
              New shell
            </Button>
            {shown?.state === 'running' ? <End key={shown.id} environment={environment} view={shown} ended={again} /> : null}
            <Previews environment={environment} />
          </>
        ) : null}
      </div>
      {open.error === null ? null : <Failed error={open.error} />}
      {shown === undefined ? (
        <Empty command={`orrery env shell ${environment}`}>Nothing runs here yet.</Empty>
      ) : mayAct ? (
        <Terminal environment={environment} terminal={shown.id} focused={shown.id === begun} onExit={again} />
      ) : (
        <Empty>Who only looks is shown no terminal: what a program prints may be a secret.</Empty>
      )}
    </div>
  );
};

/** Which terminal is shown stands in the address; one that was begun here takes the keys. */
const useOpening = (environment: string) => {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [begun, setBegun] = useState<string | null>(null);
  const show = useCallback(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pages share one search
    (id: string) => void navigate({ to: '.', search: { terminal: id } as never, replace: true }),
    [navigate],
  );
  const again = useCallback(() => queries.invalidateQueries({ queryKey: ['terminals', environment] }), [queries, environment]);
  const open = useMutation({
    mutationFn: () => node.call('terminalOpen', { params: { id: environment }, body: {} }),
    onSuccess: async ({ id }) => {
      await again();
      setBegun(id);
      show(id);
    },
  });
  return { show, begun, open, again };
};

type TabProps = { readonly view: TerminalView; readonly isShown: boolean; readonly show: (id: string) => void };

const Tab = ({ view, isShown, show }: TabProps) => (
  <button
    type="button"
    aria-current={isShown ? 'true' : undefined}
    title={view.id}
    className={`flex min-h-7 max-w-60 cursor-pointer items-baseline gap-2 rounded border px-2 ${isShown ? 'border-accent bg-raised' : 'border-line'}`}
    onClick={() => show(view.id)}
  >
    <State state={view.state} />
    <span className="truncate font-mono">{visible(view.command.join(' ').slice(0, 80))}</span>
    {view.exitCode === null ? null : <span className="text-quiet">{view.exitCode}</span>}
  </button>
);

type EndProps = { readonly environment: string; readonly view: TerminalView; readonly ended: () => Promise<void> };

/** Ends the program after a second word. */
const End = ({ environment, view, ended }: EndProps) => {
  const [sure, setSure] = useState(false);
  const end = useMutation({
    mutationFn: () => node.call('terminalEnd', { params: { id: environment, terminal: view.id }, body: {} }),
    onSettled: ended,
  });
  if (!sure) return <Button onClick={() => setSure(true)}>End it</Button>;
  return (
    <Button look="bad" disabled={end.isPending} onClick={() => end.mutate()}>
      End it with all that it started
    </Button>
  );
};
