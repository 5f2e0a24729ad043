import { createLiveRows, type LiveRows } from '@orrery/client/browser';
import type { LiveText, OrreryEvent, TranscriptPage } from '@orrery/protocol';
import { useCallback, useEffect, useRef, useState } from 'react';
import { node } from './node.ts';
import { emptyTranscript, keepTranscript, withLive, type Transcript, type TranscriptKeeper } from './transcript.ts';

/** What came is put before React at once, at most this often. */
const FRAME_MS = 60;
/** Rows that a transcript is opened with, and those of each page before. */
const OPENED_ROWS = 200;
const PAGE_ROWS = 500;
/** How long is waited before a node that is away is asked again. */
const AGAIN_MS = 1_000;

/** The transcript of a session: its end, live, and what was before it once `readOlder` is called. Leaving the page stops nothing but the reading. */
export const useTranscript = (id: string): Transcript & { readonly readOlder: () => void } => {
  const [transcript, setTranscript] = useState<Transcript>(emptyTranscript);
  const kept = useRef<Kept & { asked: string | null }>(null);
  useEffect(() => {
    const leaving = new AbortController();
    const reading = { keeper: keepTranscript(), live: createLiveRows() };
    kept.current = { ...reading, asked: null };
    setTranscript(emptyTranscript);
    read(id, { ...reading, signal: leaving.signal, show: setTranscript }).catch(() => undefined);
    return () => leaving.abort();
  }, [id]);
  const readOlder = useCallback(() => {
    const now = kept.current;
    const older = now?.keeper.now().older ?? null;
    // Each page once: it is asked for again only when that failed.
    if (now === null || older === null || now.asked === older) return;
    now.asked = older;
    node
      .call('sessionRows', { params: { id }, query: { before: Number(older), limit: PAGE_ROWS } })
      .then((page) => {
        now.keeper.page(page);
        if (kept.current === now) setTranscript(shown(id, now));
      })
      .catch(() => {
        now.asked = null;
      });
  }, [id]);
  return { ...transcript, readOlder };
};

/** What is stored of a transcript, and what is being written beside it. */
type Kept = { readonly keeper: TranscriptKeeper; readonly live: LiveRows };

const shown = (id: string, { keeper, live }: Kept): Transcript => withLive(keeper.now(), live.rows(), id);

type Reading = Kept & {
  readonly signal: AbortSignal;
  readonly show: (transcript: Transcript) => void;
};

const read = async (id: string, { keeper, live, signal, show }: Reading): Promise<void> => {
  const last = await lastPage(id, signal);
  if (last === null) return;
  keeper.page(last);
  show(keeper.now());
  let waiting: OrreryEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = (): void => {
    timer = null;
    keeper.events(waiting);
    waiting = [];
    if (!signal.aborted) show(shown(id, { keeper, live }));
  };
  const soon = (): void => void (timer ??= setTimeout(flush, FRAME_MS));
  const onLive = (piece: LiveText | null): void => {
    if (piece === null) live.forget();
    else live.take(piece);
    soon();
  };
  for await (const event of node.sessionEvents(id, {
    signal,
    onLive,
    after: last.sequence,
    awayMs: Number.MAX_SAFE_INTEGER,
  })) {
    waiting.push(event);
    live.stored(event);
    soon();
  }
};

/** The end of it, however long the node is away; null: the page was left. */
const lastPage = async (id: string, signal: AbortSignal): Promise<TranscriptPage | null> => {
  while (!signal.aborted) {
    try {
      return await node.call('sessionRows', { params: { id }, query: { limit: OPENED_ROWS }, signal });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
  return null;
};
