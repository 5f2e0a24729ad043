import type { AtKillPoint } from '../run/kill-points.ts';

/**
 * For crash tests: `ORRERY_TEST_KILL_AT=point[:stage[:nth]]` ends the node by SIGKILL when it comes there. Without the
 * variable it does nothing.
 */
export const killAt = (
  setting: string | undefined,
  end: () => void = () => process.kill(process.pid, 'SIGKILL'),
): AtKillPoint => {
  if (setting === undefined || setting === '') return () => undefined;
  const [point, stage = '', nth = '1'] = setting.split(':');
  let left = Number(nth);
  return (at, where) => {
    if (at !== point || (stage !== '' && stage !== where)) return;
    left -= 1;
    if (left === 0) end();
  };
};
