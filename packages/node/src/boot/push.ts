import { join } from 'node:path';
import { errorFields } from '../kernel/log.ts';
import { createPush, createPushSender, openPushFile, type Push } from '../push/index.ts';
import { findSession } from '../session/index.ts';
import { clock, ids, type Parts } from './parts.ts';

/** Browsers that are told what needs a person; `stopping` ends what is under way. */
export const openPush = ({ paths, tokens }: Pick<Parts, 'paths' | 'tokens'>, stopping: AbortSignal): Push =>
  createPush({
    file: openPushFile(join(paths.data, 'push.json'), async () => (await import('web-push')).default.generateVAPIDKeys()),
    send: createPushSender({ stopping }),
    clock,
    ids,
    tokenLives: (id) => tokens.lives(id),
  });

/** Tells them of each question, as it is asked, for as long as the node serves. Answers how to stop that. */
export const watchPush = (push: Pick<Push, 'tell'>, { store, log }: Pick<Parts, 'store' | 'log'>): (() => Promise<void>) => {
  let telling: Promise<void> = Promise.resolve();
  let stopped = false;
  const tell = async (sessionId: string): Promise<void> => {
    // What waits is in the Inbox: a node that stops does not wait for it.
    if (stopped) return;
    const session = await findSession(store.read, sessionId);
    if (session !== null) await push.tell(session.name);
  };
  const stop = store.subscribe((events) => {
    // What a rule or a mode decided was settled as it was asked: it waits for nobody.
    const settled = new Set(events.flatMap(({ body }) => (body.kind === 'interaction.settled' ? [body.interactionId] : [])));
    const waits = (body: (typeof events)[number]['body']): boolean =>
      body.kind === 'turn.parked' || (body.kind === 'interaction.opened' && !settled.has(body.interactionId));
    for (const { body, sessionId } of events)
      if (sessionId !== undefined && waits(body))
        telling = telling.then(() => tell(sessionId)).catch((thrown: unknown) => log.warn('push.untold', errorFields(thrown)));
  });
  return async () => {
    stop();
    stopped = true;
    await telling;
  };
};
