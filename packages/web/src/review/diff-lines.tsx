import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { keyOfLine, type AnsweredComment } from './answered.ts';
import { AtLine } from './answered.tsx';
import { isAt, MAX_COMMENT_CHARS, type Comment } from './comments.ts';
import { visible } from './inert.ts';
import { linesOf, pairsOf, type Line } from './lines.ts';
import type { Hunk } from '@orrery/protocol';

/** Signs of one line that are shown; nobody reviews more of one. */
const SHOWN_CHARS = 2_000;

/** Comments of a file, and how they are changed; null where nobody is there to be told. */
export type Commenting = {
  readonly comments: readonly Comment[];
  readonly change: (comment: Comment) => void;
} | null;

/** Comments that were sent, by their lines. */
export type Sent = ReadonlyMap<string, readonly AnsweredComment[]>;

type Shown = { readonly path: string; readonly commenting: Commenting; readonly sent: Sent };

/** The lines of a hunk, one under the other or side by side. */
export const DiffLines = ({ hunk, beside, ...shown }: Shown & { readonly hunk: Hunk; readonly beside: boolean }) => {
  const lines = linesOf(hunk);
  if (!beside) return lines.map((line, place) => <OneLine key={place} line={line} {...shown} />);
  return pairsOf(lines).map(({ left, right }, place) => (
    <div key={place} className="grid grid-cols-2 gap-x-px">
      {left === null ? <div className="bg-raised" /> : <OneLine line={left} only="before" {...shown} />}
      {right === null ? <div className="bg-raised" /> : <OneLine line={right} only="after" {...shown} />}
    </div>
  ));
};

const marks = { same: ' ', added: '+', removed: '-', note: '\\' } as const;
const looks = { same: '', added: 'bg-added', removed: 'bg-removed', note: 'text-quiet' } as const;

const OneLine = ({ line, only, path, commenting, sent }: Shown & { readonly line: Line; readonly only?: 'before' | 'after' }) => {
  const [writing, setWriting] = useState(false);
  const side = only ?? (line.after === null ? 'before' : 'after');
  const number = line[side];
  const place = number === null ? null : ({ path, side, line: number } as const);
  const mine = place === null ? undefined : commenting?.comments.find((one) => isAt(one, place));
  return (
    <div className={looks[line.kind]}>
      <div className="flex font-mono">
        {only === 'after' ? null : <Number value={line.before} />}
        {only === 'before' ? null : <Number value={line.after} />}
        {commenting === null ? null : <Begin place={place} writing={writing} begin={() => setWriting(true)} />}
        <span aria-hidden="true" className="w-3 shrink-0 select-none">
          {marks[line.kind]}
        </span>
        <Words line={line} />
      </div>
      {sent
        .get(keyOfLine(line))
        ?.filter((one) => only === undefined || only === one.side)
        .map((one) => (
          <AtLine key={one.number} comment={one} />
        ))}
      {place === null || commenting === null || !(writing || mine !== undefined) ? null : (
        <Writing
          words={mine?.text ?? ''}
          open={writing}
          begin={() => setWriting(true)}
          keep={(words) => {
            setWriting(false);
            commenting.change({ ...place, quote: `${marks[line.kind]}${line.text}`.slice(0, SHOWN_CHARS), text: words });
          }}
        />
      )}
    </div>
  );
};

type Place = Pick<Comment, 'path' | 'side' | 'line'>;

const Begin = (props: { readonly place: Place | null; readonly writing: boolean; readonly begin: () => void }) => {
  const { place, writing, begin } = props;
  const label = place === null ? 'No line' : `Comment on line ${place.line} ${place.side} the change`;
  return (
    <button
      type="button"
      disabled={place === null}
      aria-label={label}
      aria-expanded={writing}
      className="fine w-5 shrink-0 cursor-pointer text-accent opacity-0 hover:opacity-100 focus-visible:opacity-100 disabled:invisible pointer-coarse:opacity-100"
      onClick={begin}
    >
      +
    </button>
  );
};

const Words = ({ line: { kind, text } }: { readonly line: Line }) => {
  const more = text.length - SHOWN_CHARS;
  return (
    <span className="said min-w-0 flex-1">
      {kind === 'added' || kind === 'removed' ? <span className="sr-only">{kind}: </span> : null}
      {visible(text.slice(0, SHOWN_CHARS))}
      {more > 0 ? <span className="text-careful"> … {more} more characters</span> : null}
    </span>
  );
};

const Number = ({ value }: { readonly value: number | null }) => (
  <span className="w-11 shrink-0 select-none pr-2 text-right text-quiet">{value}</span>
);

type WritingProps = {
  readonly words: string;
  readonly open: boolean;
  readonly begin: () => void;
  readonly keep: (words: string) => void;
};

/** A comment at its line. Escape leaves it as it was; without words it is taken away. */
const Writing = ({ words, open, begin, keep }: WritingProps) => {
  const [text, setText] = useState(words);
  if (!open)
    return (
      <div className="mx-2 my-1 flex items-start gap-2 rounded border border-accent bg-ground px-2 py-1">
        <p className="said flex-1">{words}</p>
        <Button onClick={begin}>Change</Button>
        <Button look="bad" onClick={() => keep('')}>
          Take away
        </Button>
      </div>
    );
  return (
    <form
      className="mx-2 my-1"
      onSubmit={(event) => {
        event.preventDefault();
        keep(text);
      }}
    >
      <textarea
        aria-label="Comment"
        autoFocus
        rows={3}
        maxLength={MAX_COMMENT_CHARS}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') keep(words);
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) keep(text);
        }}
        className="said w-full resize-y rounded border border-line bg-ground px-2 py-1"
      />
      <Button look="main" type="submit">
        Keep the comment
      </Button>
    </form>
  );
};
