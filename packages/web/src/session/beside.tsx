import { visible } from '../review/inert.ts';
import type { Side, Work } from './work.ts';

const marks = { pending: '○', active: '●', done: '✓' } as const;
const looks = { pending: 'text-quiet', active: 'text-accent', done: 'text-good' } as const;

/** A plan or a to-do list, each thing with its mark and its word. */
export const Plan = ({ entries }: { readonly entries: Work['plan'] }) => (
  <ul aria-label="Plan">
    {entries.map(({ text, status }, place) => (
      // A plan comes whole each time; its things have no names of their own.
      // eslint-disable-next-line react/no-array-index-key
      <li key={place} className="flex gap-2">
        <span className={`w-16 shrink-0 whitespace-nowrap ${looks[status]}`}>
          <span aria-hidden="true">{marks[status]} </span>
          {status}
        </span>
        <span className="said">{visible(text)}</span>
      </li>
    ))}
  </ul>
);

const sideLooks: Readonly<Record<Side['state'], readonly [mark: string, look: string]>> = {
  running: ['●', 'text-accent'],
  completed: ['✓', 'text-good'],
  failed: ['✗', 'text-bad'],
  stopped: ['–', 'text-quiet'],
  detached: ['!', 'text-careful'],
};

/** A sub-agent, or a command in the background. */
export const Beside = ({ side }: { readonly side: Side }) => {
  const [mark, look] = sideLooks[side.state];
  return (
    <p className="said">
      <span className={look}>
        <span aria-hidden="true">{mark} </span>
        {side.state}
      </span>{' '}
      <span className="text-quiet">{side.kind === 'agent' ? 'sub-agent' : 'background'}</span> {visible(side.name)}
      {side.summary === null ? null : <span className="text-quiet">: {visible(side.summary)}</span>}
    </p>
  );
};
