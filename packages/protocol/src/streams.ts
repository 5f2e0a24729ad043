import { z } from 'zod';
import { terminalPath } from './terminal-frames.ts';

/** Server-sent events: the node's at `/events`, one task's at `/tasks/:id/events`, one session's likewise. Cursor: `?after=` or `Last-Event-ID`. */
export const streamPaths = { node: '/events', task: '/tasks/:id/events', session: '/sessions/:id/events' } as const;

/** Connections that stop being HTTP, below `/api/v1`. */
export const upgradePaths = {
  port: '/environments/:id/ports/:port',
  terminal: terminalPath,
} as const;

/** What the header `Upgrade` of each says. */
export const upgradeProtocols = { port: 'orrery-port' } as const;

/** First frame of every stream (`event: hello`): echoes the cursor. `event: reset` with the same shape when a cursor is too old. */
export const streamHello = z.object({ after: z.int(), seq: z.int() });
