import { callsToEdit, callsToRun, callsToWrite, smallestValue } from './intent.ts';
import { isSideCall } from './model-call.ts';
import type { ModelCall, Reply, ReplyPart } from './model-call.ts';
import type { EditIntent, Step, ToolStep, WriteIntent } from './script.ts';

/** What an ending conversation gets when its script has no step left. */
export const DEFAULT_TEXT = 'The script has no further step.';
/** What a call without tools gets, unless a step says `on: "side"`. */
export const SIDE_TEXT = 'A scripted aside.';

const DEFAULT_USAGE = { input: 100, output: 20, cached: 0 };

/** The step for a call that the script says nothing about: it ends the turn, or follows the wanted schema. */
export function defaultStep(call: ModelCall): Step {
  if (call.schema !== undefined) return { text: JSON.stringify(smallestValue(call.schema)) };
  return { text: isSideCall(call) ? SIDE_TEXT : DEFAULT_TEXT };
}

/** The reply a step describes. `serial` makes its ids unique; `created` is in epoch seconds. @throws NoSuchTool */
export function replyOf(step: Step, call: ModelCall, id: { readonly serial: number; readonly created: number }): Reply {
  const parts: ReplyPart[] = [];
  if (step.thinking !== undefined) parts.push({ kind: 'thinking', text: step.thinking });
  if (step.text !== undefined) parts.push({ kind: 'text', text: step.text, inPieces: step.pieces ?? null });
  if (step.bytes !== undefined) parts.push({ kind: 'text', text: enormousLine(step.bytes), inPieces: 1 });
  for (const [index, tool] of toolSteps(step, call).entries()) parts.push(callPart(tool, `call_${id.serial}_${index}`));
  if (parts.length === 0) parts.push({ kind: 'text', text: '', inPieces: null });
  return { id: `scripted_${id.serial}`, parts, usage: { ...DEFAULT_USAGE, ...step.usage }, created: id.created };
}

function toolSteps(step: Step, call: ModelCall): ToolStep[] {
  const named = step.tool === undefined ? [] : [{ tool: step.tool, input: step.input, raw: step.raw }];
  const hello = step.hello === undefined ? [] : [{ path: step.hello, content: step.content ?? 'hello\n' }];
  return [
    ...named,
    ...(step.tools ?? []),
    ...[...hello, ...listOf<WriteIntent>(step.write)].flatMap((intent) => callsToWrite(call.tools, intent)),
    ...listOf<EditIntent>(step.edit).flatMap((intent) => callsToEdit(call.tools, intent)),
    ...(step.shell === undefined ? [] : callsToRun(call.tools, step.shell)),
  ];
}

function listOf<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

function callPart(tool: ToolStep, id: string): ReplyPart {
  if (tool.raw !== undefined) return { kind: 'freeform', id, name: tool.tool, text: tool.raw };
  return { kind: 'tool', id, name: tool.tool, input: tool.input ?? {} };
}

/** Exactly `bytes` ASCII characters without a line break, not all the same. */
function enormousLine(bytes: number): string {
  const unit = 'scripted-line-0123456789-';
  return unit.repeat(Math.ceil(bytes / unit.length)).slice(0, bytes);
}
