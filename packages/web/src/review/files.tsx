import type { ChangedFile, ChangeSet } from '@orrery/protocol';
import { visible } from './inert.ts';

const marks: Readonly<Record<string, readonly [mark: string, look: string]>> = {
  added: ['A', 'text-good'],
  deleted: ['D', 'text-bad'],
  renamed: ['R', 'text-accent'],
};

/** The files of a change; one of them is shown. */
export const Files = (props: {
  readonly change: ChangeSet;
  readonly at: number;
  readonly commented: (file: ChangedFile) => number;
  readonly choose: (place: number) => void;
}) => {
  const { change, at, commented, choose } = props;
  const unlisted = change.filesChanged - change.files.length;
  return (
    <nav aria-label="Changed files">
      <ul className="max-h-60 overflow-y-auto lg:max-h-[50dvh]">
        {change.files.map((file, place) => {
          const [mark, look] = marks[file.status] ?? ['M', 'text-quiet'];
          const count = commented(file);
          return (
            <li key={file.path}>
              <button
                type="button"
                title={file.oldPath === null ? visible(file.path) : `${visible(file.oldPath)} → ${visible(file.path)}`}
                aria-current={place === at ? 'true' : undefined}
                className={`flex min-h-7 w-full cursor-pointer items-baseline gap-2 rounded px-2 text-left ${place === at ? 'bg-raised font-semibold' : ''}`}
                onClick={() => choose(place)}
              >
                <span className={look} aria-hidden="true">
                  {mark}
                </span>
                <span className="sr-only">{file.status}</span>
                <span className="said flex-1 font-mono">{visible(file.path)}</span>
                {count > 0 ? <span className="text-accent">{count} ✎</span> : null}
                <Counts file={file} />
              </button>
            </li>
          );
        })}
      </ul>
      {unlisted > 0 ? <p className="px-2 text-careful">! {unlisted} more files are not listed.</p> : null}
    </nav>
  );
};

/** Lines that came and went. */
export const Counts = ({ file }: { readonly file: Pick<ChangedFile, 'insertions' | 'deletions'> }) =>
  file.insertions === null ? (
    <span className="font-normal text-quiet">no text</span>
  ) : (
    <span className="font-normal whitespace-nowrap">
      <span className="text-good">+{file.insertions}</span> <span className="text-bad">−{file.deletions}</span>
    </span>
  );
