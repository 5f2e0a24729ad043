import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import { isUndone, undoneRanges } from '@orrery/protocol/undone';
import type { Row } from '../state/transcript.ts';
import { TranscriptRow } from './row.tsx';

/** How near to the end counts as being there, px. */
const NEAR_PX = 80;

/** Where the conversation was taken back, and to where. */
const rewindings = (rows: readonly Row[]) =>
  rows.flatMap(({ event: { sequence, body } }) =>
    body.kind === 'rewound' && body.conversation && sequence !== null ? [{ sequence, after: body.after }] : [],
  );

/** Rows of a transcript; only those in sight are in the page. Whoever stands at the end stays there. */
export const Rows = ({ rows }: { readonly rows: readonly Row[] }) => {
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
