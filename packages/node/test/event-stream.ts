import { get, type IncomingMessage } from 'node:http';

/** One frame as a reader has it. */
export type Heard = { event: string; id: string | null; data: unknown };

/** Reads a stream as a browser does, and lets a test wait for what it needs. */
export const listen = async (url: string, headers: Record<string, string> = {}) => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers: { authorization: 'Bearer viewer', ...headers }, agent: false }, resolve).on('error', reject);
  });
  const heard: Heard[] = [];
  const comments: string[] = [];
  let rest = '';
  let ended = false;
  let wake = (): void => undefined;
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    const frames = (rest + chunk).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      if (frame.startsWith(':')) comments.push(frame.slice(2));
      else {
        const fields = new Map(
          frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        );
        heard.push({
          event: fields.get('event') ?? 'message',
          id: fields.get('id') ?? null,
          data: JSON.parse(fields.get('data') ?? 'null'),
        });
      }
    }
    wake();
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    ended = true;
    wake();
  });
  const until = async (enough: () => boolean): Promise<void> => {
    while (!enough() && !ended) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    response,
    comments,
    heard,
    frames: async (count: number) => {
      await until(() => heard.length >= count);
      return heard;
    },
    end: async () => {
      await until(() => ended);
      return comments;
    },
    leave: () => response.destroy(),
  };
};
