import type { ChangedFile, ChangeSet } from '@orrery/protocol';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Command } from '../commands/registry.ts';
import { useCommands } from '../commands/use-commands.ts';
import { Button } from '../parts/button.tsx';
import type { SentReview } from './answered.ts';
import type { Commenting } from './diff-lines.tsx';
import { FileDiff, type AskFile } from './file-diff.tsx';
import { Counts, Files } from './files.tsx';
import { visible } from './inert.ts';
import { isLeftOut, type Choosing } from './left-out.ts';

/** Narrower than this, two sides have no room beside each other, px. */
const BESIDE_PX = 900;

/** A change: its files, and one of them hunk by hunk. `aside` stands below the files. */
export const Review = (props: {
  readonly change: ChangeSet;
  readonly of: readonly unknown[];
  readonly ask: AskFile;
  readonly commenting: Commenting;
  readonly choosing: Choosing;
  /** The newest review that was sent; null: none was. */
  readonly sent: SentReview | null;
  readonly aside: React.ReactNode;
}) => {
  const { change, aside, sent, ...shown } = props;
  const { commenting, choosing } = shown;
  const [at, choose] = useFile(change);
  const [beside, turn] = useBeside();
  useCommands(commandsOf({ choosing, at, choose, turn }));
  const file = change.files[at];
  return (
    <div className="grid flex-1 content-start items-start gap-4 lg:grid-cols-[22rem_minmax(0,1fr)]">
      <aside className="min-w-0 lg:sticky lg:top-14">
        <Files
          change={change}
          at={at}
          choose={choose}
          commented={({ path }) => commenting?.comments.filter((one) => one.path === path).length ?? 0}
        />
        {aside}
      </aside>
      <div className="min-w-0">
        {file === undefined ? null : (
          <section aria-label={`Changes of ${visible(file.path)}`} className="rounded border border-line">
            <FileHead file={file} choosing={choosing} beside={beside} turn={turn} />
            <FileDiff key={file.path} file={file} beside={beside} answered={sentOn(sent, file)} {...shown} />
          </section>
        )}
      </div>
    </div>
  );
};

const sentOn = (sent: SentReview | null, { path }: ChangedFile) => sent?.comments.filter((one) => one.path === path) ?? [];

const commandsOf = (given: {
  readonly choosing: Choosing;
  readonly at: number;
  readonly choose: (place: number) => void;
  readonly turn: () => void;
}): readonly Command[] => {
  const one = (keys: string, does: string, run: () => void): Command => ({
    id: `review ${keys}`,
    does,
    group: 'Review',
    keys,
    run,
  });
  return [
    one('j', 'next file', () => given.choose(given.at + 1)),
    one('k', 'file before', () => given.choose(given.at - 1)),
    one('n', 'next change', () => goHunk(1)),
    one('p', 'change before', () => goHunk(-1)),
    one('c', 'comment on the change', commentHere),
    ...(given.choosing === null ? [] : [one('x', given.choosing.words.key, leaveOutHere)]),
    one('s', 'side by side, or one under the other', given.turn),
  ];
};

/** Whether two sides stand beside each other, as this person had it last. */
const useBeside = (): readonly [beside: boolean, turn: () => void] => {
  const [beside, setBeside] = useState(() => innerWidth >= BESIDE_PX && localStorage.getItem('orrery.diff') === 'beside');
  const turn = (): void => {
    localStorage.setItem('orrery.diff', beside ? 'under' : 'beside');
    setBeside(!beside);
  };
  return [beside, turn];
};

type FileHeadProps = {
  readonly file: ChangedFile;
  readonly choosing: Choosing;
  readonly beside: boolean;
  readonly turn: () => void;
};

const FileHead = ({ file, choosing, beside, turn }: FileHeadProps) => (
  <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line bg-raised px-2 py-1">
    <h2 className="said font-mono font-semibold">
      {file.oldPath === null ? '' : `${visible(file.oldPath)} → `}
      {visible(file.path)}
    </h2>
    <Counts file={file} />
    <span className="ml-auto flex flex-wrap gap-2">
      {choosing === null ? null : (
        <Button aria-pressed={isLeftOut(choosing.leftOut, file.path)} onClick={() => choosing.toggle(file.path)}>
          {isLeftOut(choosing.leftOut, file.path) ? choosing.words.fileIn : choosing.words.fileOut}
        </Button>
      )}
      <Button aria-pressed={beside} onClick={turn}>
        Side by side
      </Button>
    </span>
  </div>
);

/** The file that the address names; the first where it names none. */
const useFile = (change: ChangeSet): readonly [at: number, choose: (place: number) => void] => {
  const { file } = useSearch({ strict: false }) as { readonly file?: unknown };
  const navigate = useNavigate();
  const at = Math.max(
    0,
    change.files.findIndex(({ path }) => path === String(file)),
  );
  const choose = (place: number): void => {
    const next = change.files[place];
    if (next === undefined) return;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pages share one search
    void navigate({ to: '.', search: { file: next.path } as never, replace: true });
  };
  return [at, choose];
};

const hunks = (): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-hunk]')];

/** Goes to the next change, or the one before; from nowhere to the first. */
const goHunk = (step: 1 | -1): void => {
  const all = hunks();
  const now = all.findIndex((one) => one.contains(document.activeElement));
  const next = all[now === -1 ? 0 : Math.min(all.length - 1, Math.max(0, now + step))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'center' });
};

/** Opens a comment at the first changed line of the change one is at. */
const commentHere = (): void => {
  const all = hunks();
  const here = all.find((one) => one.contains(document.activeElement)) ?? all[0];
  here?.querySelector<HTMLElement>('.bg-added button:enabled, .bg-removed button:enabled')?.click();
};

/** Leaves out the change one is at, or takes it in. */
const leaveOutHere = (): void => {
  const all = hunks();
  const here = all.find((one) => one.contains(document.activeElement)) ?? all[0];
  here?.querySelector<HTMLElement>('[data-leave-out]')?.click();
};
