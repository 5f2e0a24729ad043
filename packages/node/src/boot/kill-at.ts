import { readFileSync } from 'node:fs';
import type { AtKillPoint } from '../run/kill-points.ts';

/** What a file says now; one that is not there says nothing. */
const said = (file: string): string => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
};

/**
 * For crash tests: `ORRERY_TEST_KILL_AT=point[:stage[:nth]]` ends the node by SIGKILL when it comes there; `@file` reads
 * that from a file at each point, so that a running node can be told, and counts from when the file says it. Without the
 * variable it does nothing.
 */
export const killAt = (
  setting: string | undefined,
  end: () => void = () => process.kill(process.pid, 'SIGKILL'),
): AtKillPoint => {
  if (setting === undefined || setting === '') return () => undefined;
  const asked = setting.startsWith('@') ? () => said(setting.slice(1)) : () => setting;
  let [counting, seen] = ['', 0];
  return (at, where) => {
    const now = asked();
    if (now !== counting) [counting, seen] = [now, 0];
    const [point, stage = '', nth = '1'] = now.split(':');
    if (at !== point || (stage !== '' && stage !== where)) return;
    seen += 1;
    if (seen === Number(nth)) end();
  };
};
