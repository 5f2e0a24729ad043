import { exact, visible } from '../review/inert.ts';
import type { EditOf } from './tool-input.ts';

/** What files lose and get, line by line. */
export const Edits = ({ edits }: { readonly edits: readonly EditOf[] }) =>
  edits.map(({ path, lines, more }, place) => (
    // Several edits of one call may be alike.
    // eslint-disable-next-line react/no-array-index-key
    <div key={place} className="my-1 rounded border border-line bg-ground font-mono">
      <p className="said border-b border-line bg-raised px-2 text-quiet">{visible(path)}</p>
      <div className="max-h-72 overflow-auto" tabIndex={0} role="group" aria-label={`Change of ${visible(path)}`}>
        {lines.map(({ sign, text }, at) => (
          // eslint-disable-next-line react/no-array-index-key
          <p key={at} className={`said px-2 ${sign === '+' ? 'bg-added' : 'bg-removed'}`}>
            <span className="sr-only">{sign === '+' ? 'added: ' : 'removed: '}</span>
            <span aria-hidden="true">{sign} </span>
            {exact(text)}
          </p>
        ))}
        {more === 0 ? null : <p className="px-2 text-careful">! {more} more lines are not shown</p>}
      </div>
    </div>
  ));
