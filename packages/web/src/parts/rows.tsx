import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'react';
import { isUndone, undoneRanges } from '@orrery/protocol/undone';
import type { Row } from '../state/transcript.ts';
import { TranscriptRow } from './row.tsx';

/** How near to the end counts as being there, px. */
const NEAR_PX = 80;
/** How near to the beginning what was before is read, px. */
const OLDER_PX = 1_500;

type RowsProps = {
  readonly rows: readonly Row[];
  /** Whether more was before them. */
  readonly older: boolean;
  readonly readOlder: () => void;
};

/** Where the conversation was taken back, and to where. */
const rewindings = (rows: readonly Row[]) =>
  rows.flatMap(({ event: { sequence, body } }) =>
    body.kind === 'rewound' && body.conversation && sequence !== null ? [{ sequence, after: body.after }] : [],
  );

/** Rows of a transcript; only those in sight are in the page. Whoever stands at the end stays there. */
export const Rows = ({ rows, older, readOlder }: RowsProps) => {
  const frame = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const undone = useMemo(() => undoneRanges(rewindings(rows)), [rows]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => 40,
    getItemKey: (place) => rows[place]?.key ?? place,
    overscan: 20,
  });
  useStill({ frame, rows, startOf: (index) => virtual.measurementsCache[index]?.start ?? 0 });
  useEffect(() => {
    const { scrollHeight = 0, clientHeight = 0, scrollTop = 0 } = frame.current ?? {};
    const short = scrollHeight <= clientHeight;
    if (older && (short || (!follows.current && scrollTop < OLDER_PX))) readOlder();
  }, [older, readOlder, rows]);
  useEffect(() => {
    if (follows.current && rows.length > 0) virtual.scrollToIndex(rows.length - 1, { align: 'end' });
  }, [rows, virtual]);
  return (
    <div
      ref={frame}
      tabIndex={0}
      role="log"
      aria-label="Transcript"
      className="min-h-40 flex-1 overflow-y-auto"
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
        if (older && scrollTop < OLDER_PX) readOlder();
      }}
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className="absolute inset-x-0 flow-root"
              style={{ transform: `translateY(${start}px)` }}
            >
              <TranscriptRow event={row.event} undone={isUndone(undone, row.event.sequence ?? 0)} />
            </div>
          );
        })}
      </div>
    </div>
  );
};

type StillProps = {
  readonly frame: React.RefObject<HTMLDivElement | null>;
  readonly rows: readonly Row[];
  readonly startOf: (index: number) => number;
};

/** What is in sight stays where it is when rows are put before it. */
const useStill = ({ frame, rows, startOf }: StillProps): void => {
  const before = useRef<string | null>(null);
  useLayoutEffect(() => {
    const was = before.current;
    before.current = rows[0]?.key ?? null;
    if (was === null || was === before.current || frame.current === null) return;
    const place = rows.findIndex(({ key }) => key === was);
    if (place > 0) frame.current.scrollTop += startOf(place);
  });
};
