import type { OrreryEvent } from '@orrery/protocol';
import { useEffect, useState } from 'react';
import { node } from './node.ts';
import { emptyTranscript, keepTranscript, type Row } from './transcript.ts';

/** What came is put before React at once, at most this often. */
const FRAME_MS = 100;

/** The log of a task from its beginning, and what comes while it runs. Leaving the page stops nothing but the reading. */
export const useTaskLog = (id: string): readonly Row[] => {
  const [rows, setRows] = useState<readonly Row[]>([]);
  useEffect(() => {
    const leaving = new AbortController();
    setRows(emptyTranscript.rows);
    follow(id, { signal: leaving.signal, show: setRows }).catch(() => undefined);
    return () => leaving.abort();
  }, [id]);
  return rows;
};

type Following = { readonly signal: AbortSignal; readonly show: (rows: readonly Row[]) => void };

const follow = async (id: string, { signal, show }: Following): Promise<void> => {
  const keeper = keepTranscript();
  let waiting: OrreryEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = (): void => {
    timer = null;
    keeper.events(waiting);
    waiting = [];
    if (!signal.aborted) show(keeper.now().rows);
  };
  for await (const event of node.taskEvents(id, { signal, after: 0, awayMs: Number.MAX_SAFE_INTEGER })) {
    waiting.push(event);
    timer ??= setTimeout(flush, FRAME_MS);
  }
};
