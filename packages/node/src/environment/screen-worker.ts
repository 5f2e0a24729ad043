// The thread in which screens are kept: it takes in what programs print, as a terminal would, so that a screen can be drawn
// whose output is gone. One for a node; nothing here blocks anything else.

import { parentPort, type MessagePort } from 'node:worker_threads';
import { createScreenModel, type ScreenModel } from './screen-model.ts';

/** What the thread is told. `ask` numbers what it answers. */
export type ToScreens =
  | { readonly kind: 'open'; readonly id: string; readonly columns: number; readonly rows: number; readonly screen: string }
  | { readonly kind: 'feed'; readonly id: string; readonly bytes: Uint8Array; readonly ask: number }
  | { readonly kind: 'resize'; readonly id: string; readonly columns: number; readonly rows: number }
  | { readonly kind: 'draw'; readonly id: string; readonly ask: number }
  | { readonly kind: 'close'; readonly id: string };

/** Its answers; `screen` is null for what was not asked to be drawn. */
export type FromScreens = { readonly ask: number; readonly screen: string | null };

const serve = (port: MessagePort): void => {
  const models = new Map<string, ScreenModel>();
  const answer = (said: FromScreens): void => port.postMessage(said);
  const take = async (told: ToScreens): Promise<void> => {
    const model = models.get(told.id);
    switch (told.kind) {
      case 'open': {
        const fresh = createScreenModel(told);
        models.set(told.id, fresh);
        return fresh.feed(told.screen);
      }
      case 'feed':
        await model?.feed(told.bytes);
        return answer({ ask: told.ask, screen: null });
      case 'resize':
        return model?.resize(told.columns, told.rows);
      case 'draw':
        return answer({ ask: told.ask, screen: model?.draw() ?? '' });
      case 'close':
        model?.close();
        models.delete(told.id);
    }
  };
  let turn: Promise<void> = Promise.resolve();
  // In order: a size belongs between the output before it and the output after it. A failure ends the thread.
  port.on('message', (told: ToScreens) => {
    turn = turn.then(() => take(told));
  });
};

if (parentPort !== null) serve(parentPort);
