import { start } from '../src/index.ts';
import type { ScriptedModel, ScriptedModelOptions } from '../src/index.ts';

/** A server that closes when it goes out of scope: `await using server = await closingServer(…)`. */
export async function closingServer(options: ScriptedModelOptions = {}): Promise<ScriptedModel & AsyncDisposable> {
  const server = await start(options);
  return { ...server, [Symbol.asyncDispose]: () => server.close() };
}
