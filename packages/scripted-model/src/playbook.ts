import { isSideCall, lastText, openingText } from './model-call.ts';
import type { ModelCall } from './model-call.ts';
import { ScriptError } from './script.ts';
import type { NamedScript, Script, Step } from './script.ts';

/** What a call gets: a step, where it came from, or nothing when the script has no step for it. */
export type Taken = { readonly step: Step | undefined; readonly script: string };

/** The steps that are still to be played, for everybody and by name. */
export type Playbook = {
  /** Appends steps: to the script of that name, else to the common one. @throws ScriptError for an unknown name */
  push(steps: readonly Step[], script?: string): void;
  /** Replaces everything. */
  load(script: Script): void;
  /** Takes the first step that fits the call out of the queue. @throws ScriptError when there are too many conversations */
  take(call: ModelCall): Taken;
  /** What is left, by script name; the common steps under `""`. */
  left(): Readonly<Record<string, readonly Step[]>>;
};

/** Conversations that a script may be played for separately. */
export const MAX_CONVERSATIONS = 10_000;

type Queue = { readonly steps: Step[] };
type Named = NamedScript & { readonly queue: Queue; readonly conversations: Map<string, Queue> };

/** A playbook that starts with this script. */
export function createPlaybook(initial: Script): Playbook {
  let common: Queue = { steps: [] };
  let named = new Map<string, Named>();

  const load = (script: Script): void => {
    common = { steps: [...script.steps] };
    named = new Map(
      Object.entries(script.scripts).map(([name, entry]) => [
        name,
        { ...entry, queue: { steps: [...entry.steps] }, conversations: new Map() },
      ]),
    );
  };
  load(initial);

  return {
    load,
    push(steps, script) {
      if (script === undefined) return void common.steps.push(...steps);
      const target = named.get(script);
      if (target === undefined)
        throw new ScriptError(`script \`${script}\` is not known. Known: ${[...named.keys()].join(', ') || 'none'}.`);
      target.queue.steps.push(...steps);
    },
    take(call) {
      const opening = openingText(call);
      for (const [name, entry] of named) {
        if (opening.includes(entry.marker)) return { step: takeFrom(queueFor(entry, opening), call), script: name };
      }
      return { step: takeFrom(common, call), script: '' };
    },
    left() {
      return { '': common.steps, ...Object.fromEntries([...named].map(([name, entry]) => [name, entry.queue.steps])) };
    },
  };
}

function queueFor(entry: Named, opening: string): Queue {
  if (!entry.perConversation) return entry.queue;
  const known = entry.conversations.get(opening);
  if (known !== undefined) return known;
  if (entry.conversations.size >= MAX_CONVERSATIONS)
    throw new ScriptError(
      `the script for \`${entry.marker}\` has been played for ${MAX_CONVERSATIONS} conversations, which is the limit. Reset the server.`,
    );
  const queue = { steps: [...entry.steps] };
  entry.conversations.set(opening, queue);
  return queue;
}

function takeFrom(queue: Queue, call: ModelCall): Step | undefined {
  const index = queue.steps.findIndex((step) => fits(step, call));
  const step = queue.steps[index];
  if (step === undefined || step.times === 'forever') return step;
  if (step.times === undefined || step.times === 1) queue.steps.splice(index, 1);
  else queue.steps[index] = { ...step, times: step.times - 1 };
  return step;
}

function fits(step: Step, call: ModelCall): boolean {
  const kind = isSideCall(call) ? 'side' : 'main';
  const on = step.on ?? 'main';
  if (on !== 'any' && on !== kind) return false;
  if (step.match !== undefined && !new RegExp(step.match).test(lastText(call))) return false;
  return step.matchPrompt === undefined || new RegExp(step.matchPrompt).test(openingText(call));
}
