import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useContext, useState } from 'react';
import { useMayAct } from '../state/caller.ts';
import { answerAsk, goToNextAsk, isAsked } from './needs-me.ts';
import { goToRow, hasRows } from './rows.ts';
import type { Command } from './registry.ts';
import { CommandsContext, useCommandKeys, useCommands } from './use-commands.ts';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const Help = lazy(async () => ({ default: (await import('./help.tsx')).Help }));

/** A page that can be gone to from everywhere; `key` follows `g`. */
export type PageLink = { readonly to: string; readonly name: string; readonly key?: string };

const rowKeys: readonly Command[] = [
  { id: 'next row', does: 'next in the list', group: 'Go to', keys: 'j', when: hasRows, run: () => goToRow(1) },
  { id: 'row before', does: 'the one before in the list', group: 'Go to', keys: 'k', when: hasRows, run: () => goToRow(-1) },
];

const answers: readonly Command[] = [
  ...rowKeys,
  { id: 'allow', does: 'allow once what is asked', group: 'Do', keys: 'a', when: isAsked, run: () => answerAsk('approved') },
  { id: 'rule', does: 'show the rule that would allow it', group: 'Do', keys: 'r', when: isAsked, run: () => answerAsk('rule') },
  { id: 'deny', does: 'deny what is asked', group: 'Do', keys: 'd', when: isAsked, run: () => answerAsk('denied') },
];

/** What can be made from everywhere, by who may. */
const newThings = (mayAct: boolean, go: (to: string) => () => void): readonly Command[] => {
  const of = { group: 'Do', when: () => mayAct } as const;
  return [
    { ...of, id: 'new session', does: 'new session', keys: 'N', run: go('/sessions/new') },
    { ...of, id: 'new task', does: 'new task', keys: 'T', run: go('/tasks/new') },
    { ...of, id: 'new environment', does: 'new environment', run: go('/environments/new') },
  ];
};

/** What can be done on every page, and the button that opens the list of it. */
export const Everywhere = ({ links }: { readonly links: readonly PageLink[] }) => {
  const { list } = useContext(CommandsContext);
  const navigate = useNavigate();
  const mayAct = useMayAct();
  const [open, setOpen] = useState<{ readonly what: 'palette' | 'help'; readonly commands: readonly Command[] } | null>(null);
  const show = (what: 'palette' | 'help') => (): void => setOpen({ what, commands: list() });
  const close = (): void => setOpen((now) => (now === open ? null : now));
  const go = (to: string) => (): void => void navigate({ to });
  useCommandKeys();
  useCommands([
    { id: 'palette', does: 'find and do anything', group: 'Do', keys: 'Mod+k', run: show('palette') },
    { id: 'help', does: 'all keys', group: 'Do', keys: '?', run: show('help') },
    ...links.map(({ to, name, key }) => ({
      id: `go ${to}`,
      does: name,
      group: 'Go to' as const,
      ...(key === undefined ? {} : { keys: `g ${key}` }),
      run: go(to),
    })),
    {
      id: 'next ask',
      does: 'what needs me next',
      group: 'Go to',
      keys: 'g n',
      run: () => {
        if (!goToNextAsk()) go('/')();
      },
    },
    ...newThings(mayAct, go),
    ...answers,
  ]);
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        className="min-h-7 cursor-pointer rounded border border-line bg-raised px-2 text-quiet hover:text-ink"
        onClick={show('palette')}
      >
        Find
      </button>
      <Suspense fallback={null}>
        {open?.what === 'palette' ? <Palette commands={open.commands} close={close} /> : null}
        {open?.what === 'help' ? <Help commands={open.commands} close={close} /> : null}
      </Suspense>
    </>
  );
};
