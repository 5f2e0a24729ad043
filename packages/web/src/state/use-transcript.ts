import { useEffect, useState } from 'react';
import { node } from './node.ts';
import { emptyTranscript, withEvents, type Transcript } from './transcript.ts';

/** Rows that are put before React at once, at most this often. */
const FRAME_MS = 60;

/** The transcript of a session, from its beginning and then live. Leaving the page stops nothing but the reading. */
export const useTranscript = (id: string | undefined): Transcript => {
  const [transcript, setTranscript] = useState<Transcript>(emptyTranscript);
  useEffect(() => {
    if (id === undefined) return undefined;
    const leaving = new AbortController();
    setTranscript(emptyTranscript);
    read(id, leaving.signal, setTranscript).catch(() => undefined);
    return () => leaving.abort();
  }, [id]);
  return transcript;
};

const read = async (id: string, signal: AbortSignal, show: (transcript: Transcript) => void): Promise<void> => {
  let now = emptyTranscript;
  let waiting: Parameters<typeof withEvents>[1][number][] = [];
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = (): void => {
    timer = null;
    now = withEvents(now, waiting);
    waiting = [];
    if (!signal.aborted) show(now);
  };
  for await (const event of node.sessionEvents(id, { signal, awayMs: Number.MAX_SAFE_INTEGER })) {
    waiting.push(event);
    timer ??= setTimeout(flush, FRAME_MS);
  }
};
