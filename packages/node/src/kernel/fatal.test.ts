import { EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { installFatal } from './fatal.ts';
import { createLog } from './log.ts';

describe('a failure nobody handled', () => {
  it('is logged without its text and ends the process with 70', () => {
    const lines: string[] = [];
    const exits: number[] = [];
    const host = Object.assign(new EventEmitter(), { exit: (code: number) => exits.push(code) });
    const log = createLog({ sink: { write: (line) => lines.push(line), close: () => undefined }, clock: { nowMs: () => 0 } });
    const uninstall = installFatal({ log, process: host });
    host.emit('unhandledRejection', new Error('private words'));
    host.emit('uncaughtException', 'private words');
    uninstall();
    expect(exits).toEqual([70, 70]);
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(['fatal.rejection', 'fatal.exception']);
    expect(lines.join('')).not.toContain('private');
    expect(host.eventNames()).toEqual([]);
  });

  it('ends a real thread that forgot a rejection', async () => {
    const source = `
      import { installFatal } from ${JSON.stringify(new URL('./fatal.ts', import.meta.url).href)};
      import { createLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
      installFatal({ log: createLog({ sink: { write() {}, close() {} }, clock: { nowMs: () => 0 } }) });
      Promise.reject(new Error('forgotten'));
      setInterval(() => {}, 1000);
    `;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
    const code = await new Promise((resolve) => worker.once('exit', resolve));
    expect(code).toBe(70);
  });
});
