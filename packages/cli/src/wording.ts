/** Durations for people: `340 ms`, `2.1 s`, `1 min 5 s`, `2 h 3 min`. */
export const durationText = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
};

/** An instant relative to now, for people: `just now`, `5 min ago`, `in 2 h`, `3 days ago`. */
export const agoText = (at: string | null, nowMs: number): string => {
  if (at === null) return 'never';
  const distance = nowMs - Date.parse(at);
  const size = Math.abs(distance);
  if (size < 10_000) return 'just now';
  const steps: readonly (readonly [number, string])[] = [
    [86_400_000, 'day'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ];
  const [unit, name] = steps.find(([ms]) => size >= ms) ?? [1000, 's'];
  const count = Math.floor(size / unit);
  const text = name === 'day' ? `${count} day${count === 1 ? '' : 's'}` : `${count} ${name}`;
  return distance >= 0 ? `${text} ago` : `in ${text}`;
};

/** `1 file`, `3 files`. */
export const countText = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Numbers of tokens: `950`, `12.3k`, `1.2M`. */
export const tokensText = (count: number): string => {
  if (count < 1000) return String(count);
  return count < 999_950 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
};

/** Money, with the precision that small amounts need; null is said as unknown. */
export const costText = (usd: number | null): string => {
  if (usd === null) return 'cost unknown';
  return `$${usd === 0 ? '0' : usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)}`;
};

/** Bytes: `512 B`, `1.5 KiB`, `20.0 MiB`. */
export const bytesText = (bytes: number): string => {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return power === 0 ? `${bytes} B` : `${(bytes / 1024 ** power).toFixed(1)} ${units[power]}`;
};

/** A word for the shell: quoted when it needs it, so that what is printed can be pasted. */
export const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
