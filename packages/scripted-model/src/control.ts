import type { CallRecord } from './call-log.ts';
import type { Step } from './script.ts';

/** What may be asked of a running server, in process and by `/__…` paths alike. */
export type Controls = {
  /** Appends a step or a list of steps (as parsed JSON), to the named script if one is named. @throws ScriptError */
  push(steps: unknown, script?: string): void;
  /** Replaces the script, forgets the log and the counts. @throws ScriptError */
  reset(script?: unknown): void;
  /** The last 1,000 requests, oldest first. */
  log(): readonly CallRecord[];
  /** Requests since the start or the last reset. */
  calls(): number;
  /** Steps that are left, by script name. */
  queue(): Readonly<Record<string, readonly Step[]>>;
  /** How often each marker was said by a user; see `PromptCounter`. */
  promptCounts(): Readonly<Record<string, number>>;
};

type ControlRequest = { readonly path: string; readonly query: URLSearchParams; readonly body: () => unknown };

/** The answer to a control path; undefined when the path is not one. @throws ScriptError, SyntaxError */
export function controlAnswer(
  controls: Controls,
  { path, query, body }: ControlRequest,
): { status: number; body: unknown } | undefined {
  switch (path) {
    case '/__script':
      controls.push(body(), query.get('name') ?? undefined);
      return { status: 200, body: { left: controls.queue() } };
    case '/__reset':
      controls.reset(body());
      return { status: 200, body: { left: controls.queue() } };
    case '/__log':
      return { status: 200, body: controls.log() };
    case '/__queue':
      return { status: 200, body: controls.queue() };
    case '/__prompts':
      return { status: 200, body: controls.promptCounts() };
    default:
      return undefined;
  }
}
