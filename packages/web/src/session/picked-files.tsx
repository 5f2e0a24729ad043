import { visible } from '../review/inert.ts';
import { bytesText } from '../state/bytes.ts';
import { limitsLine } from './picked.ts';
import type { Picked, Sending } from './use-sending.ts';

/** Files that go with what is written, each with what it is refused for. */
export const PickedFiles = ({ files, remove }: Pick<Sending, 'files' | 'remove'>) =>
  files.length === 0 ? null : (
    <div className="pt-1">
      <ul aria-label="Files that go with it" className="flex flex-wrap gap-1">
        {files.map((one) => (
          <One key={one.request} one={one} remove={() => remove(one)} />
        ))}
      </ul>
      <p className="text-quiet">{limitsLine}</p>
    </div>
  );

const One = ({ one: { file, refused }, remove }: { readonly one: Picked; readonly remove: () => void }) => (
  <li
    className={`inline-flex max-w-full items-baseline gap-2 rounded border px-2 ${refused === null ? 'border-line' : 'border-bad'}`}
  >
    <span className="truncate">{visible(file.name === '' ? 'pasted' : file.name)}</span>
    <span className={refused === null ? 'whitespace-nowrap text-quiet' : 'text-bad'}>
      {refused === null ? bytesText(file.size) : `✗ ${refused}`}
    </span>
    <button type="button" aria-label={`Leave ${file.name} out`} className="cursor-pointer px-1 text-quiet" onClick={remove}>
      ×
    </button>
  </li>
);
