// The system's Chromium, driven over its debugging port.
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';

/** Where it is; null: it is not installed. */
export const chromium = ((): string | null => {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  for (const file of folders.flatMap((folder) => ['chromium', 'chromium-browser'].map((name) => join(folder, name)))) {
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      continue;
    }
  }
  return null;
})();

/** One tab. */
export type Tab = {
  /** What an expression comes to in the page, awaited. */
  evaluate(expression: string): Promise<unknown>;
};

export type Browser = {
  open(url: string): Promise<Tab>;
  close(): Promise<void>;
};

type Message = {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
};

/** Starts it with a profile of its own. */
export const startChromium = async (program: string, profile: string): Promise<Browser> => {
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
  const child = spawn(program, [...flags, `--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    void ended.then(() => reject(new Error('Chromium ended before it listened.')));
    createInterface({ input: child.stderr }).on('line', (line) => {
      const found = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error('The debugging port cannot be reached.')));
  });
  const waiting = new Map<number, (message: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    waiting.get(message.id ?? 0)?.(message);
  });
  let last = 0;
  const send = async (method: string, params: object, sessionId?: string): Promise<Readonly<Record<string, unknown>>> => {
    const id = ++last;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { result, error } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
  return {
    async open(address) {
      const { targetId } = await send('Target.createTarget', { url: address });
      const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
      return {
        evaluate: async (expression) => {
          const { result } = await send(
            'Runtime.evaluate',
            { expression, awaitPromise: true, returnByValue: true },
            String(sessionId),
          );
          return (result as { readonly value?: unknown }).value;
        },
      };
    },
    async close() {
      socket.close();
      child.kill();
      await ended;
    },
  };
};
