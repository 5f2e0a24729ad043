// What providers say about their limits in headers, whichever program made the call. Unknown headers are left alone.

import type { IncomingHttpHeaders } from 'node:http';
import { epochSeconds } from '../harness/failure.ts';
import type { LimitWindow } from './model.ts';

const ANTHROPIC = 'anthropic-ratelimit-unified';

const one = (headers: IncomingHttpHeaders, name: string): string | null => {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
};

const percent = (value: string | null, scale: number): number | null => {
  const number = value === null || value.trim() === '' ? Number.NaN : Number(value);
  return Number.isFinite(number) ? Math.max(0, number * scale) : null;
};

/** Milliseconds of `retry-after`, given in seconds or as a date; null when absent or unreadable. */
export const retryAfterMs = (headers: IncomingHttpHeaders, nowMs: number): number | null => {
  const value = one(headers, 'retry-after');
  if (value === null) return null;
  if (/^\d{1,9}(\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
};

/** The windows of a subscription: Anthropic's unified ones and ChatGPT's, as far as the answer names them. */
export const readLimitWindows = (headers: IncomingHttpHeaders): readonly LimitWindow[] => [
  ...anthropicWindows(headers),
  ...chatgptWindows(headers),
];

const anthropicWindows = (headers: IncomingHttpHeaders): readonly LimitWindow[] => {
  const windows: LimitWindow[] = [];
  const status = one(headers, `${ANTHROPIC}-status`);
  if (status !== null) {
    const name = one(headers, `${ANTHROPIC}-representative-claim`) ?? 'unified';
    windows.push({
      name,
      usedPercent: null,
      resetsAt: epochSeconds(one(headers, `${ANTHROPIC}-reset`)),
      exhausted: status === 'rejected',
    });
  }
  for (const [header, value] of Object.entries(headers)) {
    const name = /^anthropic-ratelimit-unified-(\w+)-utilization$/.exec(header)?.[1];
    if (name === undefined || typeof value !== 'string') continue;
    const rejected = one(headers, `${ANTHROPIC}-${name}-status`) === 'rejected';
    windows.push({
      name,
      usedPercent: percent(value, 100),
      resetsAt: epochSeconds(one(headers, `${ANTHROPIC}-${name}-reset`)),
      exhausted: rejected,
    });
  }
  return windows;
};

const chatgptWindows = (headers: IncomingHttpHeaders): readonly LimitWindow[] =>
  ['primary', 'secondary'].flatMap((name) => {
    const used = percent(one(headers, `x-codex-${name}-used-percent`), 1);
    if (used === null) return [];
    return [
      { name, usedPercent: used, resetsAt: epochSeconds(one(headers, `x-codex-${name}-reset-at`)), exhausted: used >= 100 },
    ];
  });
