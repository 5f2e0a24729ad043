import type { ChangedFile, FileChange, Hunk } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Failed, Loading } from '../parts/states.tsx';
import { atLines, type AnsweredComment } from './answered.ts';
import { DiffLines, type Commenting, type Sent } from './diff-lines.tsx';
import { visible } from './inert.ts';
import { isLeftOut, type Choosing } from './left-out.ts';
import { linesOf } from './lines.ts';

/** Changed lines of a file that are shown without being asked for. */
const SHOWN_LINES = 1_500;
/** Lines that are put into the page at once. */
const PAGE_LINES = 3_000;

/** Asks the node for one file of a change. */
export type AskFile = (file: {
  readonly path: string;
  readonly oldPath?: string;
  readonly whole?: string;
}) => Promise<FileChange>;

type FileProps = {
  readonly file: ChangedFile;
  readonly of: readonly unknown[];
  readonly ask: AskFile;
  readonly beside: boolean;
  readonly commenting: Commenting;
  readonly choosing: Choosing;
  /** Comments on this file that were sent. */
  readonly answered: readonly AnsweredComment[];
};

/** What was changed in one file. What is long or no text stands behind its size. */
export const FileDiff = (props: FileProps) => {
  const { file } = props;
  const changed = (file.insertions ?? 0) + (file.deletions ?? 0);
  const [wanted, setWanted] = useState(changed <= SHOWN_LINES);
  const size = sizeOf(file);
  if (file.insertions === null) return <p className="p-4 text-quiet">This is no text, so there are no lines to show. {size}</p>;
  if (!wanted)
    return (
      <div className="p-4">
        <Button onClick={() => setWanted(true)}>
          Show {changed} changed lines ({size})
        </Button>
      </div>
    );
  return <Loaded {...props} />;
};

const Loaded = ({ file, of, ask, answered, ...look }: FileProps) => {
  const [whole, setWhole] = useState(false);
  const [room, setRoom] = useState(PAGE_LINES);
  const { data, error } = useQuery({
    queryKey: [...of, file.path, whole],
    queryFn: () =>
      ask({
        path: file.path,
        ...(file.oldPath === null ? {} : { oldPath: file.oldPath }),
        ...(whole ? { whole: 'true' } : {}),
      }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error !== null) return <Failed error={error} />;
  if (data === undefined) return <Loading />;
  const shown = fitting(data, room);
  const sent = atLines(answered, answered.length === 0 ? [] : data.hunks.flatMap(linesOf));
  return (
    <>
      {data.modes === null ? null : (
        <p className="px-2 text-quiet">
          mode {data.modes.before ?? 'none'} → {data.modes.after ?? 'none'}
        </p>
      )}
      {data.hunks.length === 0 ? <p className="p-4 text-quiet">No line of it was changed.</p> : null}
      {shown.map((hunk) => (
        <OneHunk key={hunk.key} hunk={hunk} path={file.path} sent={sent} {...look} />
      ))}
      {shown.length < data.hunks.length ? (
        <div className="p-2">
          <Button onClick={() => setRoom(room + PAGE_LINES)}>
            Show more: {data.hunks.length - shown.length} of {data.hunks.length} changes are left
          </Button>
        </div>
      ) : null}
      {data.truncated ? <Cut whole={whole} more={() => setWhole(true)} /> : null}
    </>
  );
};

type OneHunkProps = Pick<FileProps, 'beside' | 'commenting' | 'choosing'> & {
  readonly hunk: Hunk;
  readonly path: string;
  readonly sent: Sent;
};

const OneHunk = ({ hunk, choosing, path, ...shown }: OneHunkProps) => {
  const out = choosing !== null && isLeftOut(choosing.leftOut, path, hunk.key);
  return (
    <section data-hunk={hunk.key} tabIndex={-1} aria-label={`Change at line ${hunk.newStart}`} className="border-b border-line">
      <div className="flex items-baseline gap-2 bg-raised px-2">
        <h3 className="said flex-1 font-mono text-quiet">
          @@ -{hunk.oldStart},{hunk.oldLines} +{hunk.newStart},{hunk.newLines} @@ {visible(hunk.section)}
        </h3>
        {out && choosing !== null ? <span className="text-careful">! {choosing.words.is}</span> : null}
        {choosing === null ? null : (
          <button
            type="button"
            data-leave-out=""
            aria-pressed={out}
            className="cursor-pointer text-accent underline"
            onClick={() => choosing.toggle(path, hunk.key)}
          >
            {out ? choosing.words.in : choosing.words.out}
          </button>
        )}
      </div>
      {out ? null : <DiffLines hunk={hunk} path={path} {...shown} />}
    </section>
  );
};

const Cut = ({ whole, more }: { readonly whole: boolean; readonly more: () => void }) => (
  <div className="p-2 text-careful">
    ! The change goes on after this.{' '}
    {whole ? (
      'More than 4 MiB are not shown; as a branch all of it can be read.'
    ) : (
      <Button onClick={more}>Show up to 4 MiB of it</Button>
    )}
  </div>
);

/** As many hunks as have room, the first in any case. */
const fitting = ({ hunks }: FileChange, room: number): FileChange['hunks'] => {
  let lines = 0;
  return hunks.filter((hunk, place) => (lines += hunk.lines.length) <= room || place === 0);
};

/** Sizes before and after, in words. */
export const sizeOf = ({ bytesBefore, bytesAfter }: ChangedFile): string => {
  const words = (bytes: number): string =>
    bytes < 1_000 ? `${bytes} B` : bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
  if (bytesBefore === null && bytesAfter === null) return 'no file';
  if (bytesBefore === null) return words(bytesAfter ?? 0);
  if (bytesAfter === null) return `${words(bytesBefore)} before, none now`;
  return `${words(bytesBefore)} before, ${words(bytesAfter)} now`;
};
