// Dialogues as scripts: what a program says and is told, and what the node makes of it.

import type { PermissionMode } from '@orrery/protocol';
import type { Dialogue, DialogueStep, SessionCommand, SessionFact } from '../src/harness/dialogue.ts';
import type { Harness, SessionAdapter } from '../src/harness/harness.ts';

/** What happens in a session: the program says a frame, or is told something. */
export type Happening = { readonly hear: object | string } | { readonly tell: SessionCommand };

export const START = {
  conversation: null,
  branch: null,
  workdir: '/place',
  model: null,
  effort: null,
  mode: 'ask' as PermissionMode,
};

export const adapterOf = ({ session }: Harness): SessionAdapter => {
  if (session === null) throw new Error('it holds no conversations');
  return session;
};

export const bytesOf = (frame: object | string): Uint8Array =>
  new TextEncoder().encode(`${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n`);

export type Played = { readonly steps: readonly DialogueStep[]; readonly dialogue: Dialogue };

/** Plays happenings; `cut` gives bytes one at a time, `restart` stores the state after each happening and goes on from it. */
export const play = (
  adapter: SessionAdapter,
  script: readonly Happening[],
  how: { cut?: boolean; restart?: boolean } = {},
): Played => {
  let dialogue = adapter.dialogue({ offset: 0, state: null });
  const steps: DialogueStep[] = [dialogue.begin(START)];
  for (const happening of script) {
    if ('tell' in happening) steps.push(dialogue.tell(happening.tell));
    else {
      const bytes = bytesOf(happening.hear);
      const pieces = how.cut === true ? [...bytes].map((byte) => new Uint8Array([byte])) : [bytes];
      for (const piece of pieces) steps.push(...dialogue.push(piece));
    }
    if (how.restart !== true) continue;
    const { offset, state } = dialogue.position();
    dialogue = adapter.dialogue({ offset, state: JSON.parse(JSON.stringify(state)) });
  }
  return { steps, dialogue };
};

export const factsOf = ({ steps }: Played): readonly SessionFact[] => steps.flatMap(({ facts }) => facts);
export const saidOf = ({ steps }: Played): readonly unknown[] =>
  steps.flatMap(({ frames }) => frames.map(({ text }) => JSON.parse(text) as unknown));
export const prompt = (turn: number, text = `turn ${turn}`): Happening => ({ tell: { kind: 'prompt', turn, text } });
export const steer = (key: string): Happening => ({ tell: { kind: 'steer', key, text: `words of ${key}` } });
export const answer = (key: string, outcome: 'approved' | 'denied' | 'timed-out', message: string | null = null): Happening => ({
  tell: { kind: 'answer', key, outcome, answers: null, message },
});

export const replay = (text: string) => ({
  type: 'user',
  isReplay: true,
  message: { role: 'user', content: [{ type: 'text', text }] },
});
export const result = { type: 'result', subtype: 'success', is_error: false, session_id: 's1', result: 'ok' };
export const asks = {
  type: 'control_request',
  request_id: 'q1',
  request: { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'rm -r x' }, permission_suggestions: [{ a: 1 }] },
};
export const claudeReady: Happening = {
  hear: {
    type: 'control_response',
    response: {
      subtype: 'success',
      request_id: 'initialize',
      response: {
        commands: [{ name: 'compact', description: 'Shorten' }],
        models: [{ value: 'm', supportedEffortLevels: ['low'] }],
      },
    },
  },
};
export const claudeInit: Happening = {
  hear: { type: 'system', subtype: 'init', session_id: 's1', model: 'm', permissionMode: 'default' },
};

export const item = (type: 'item/started' | 'item/completed', value: object): Happening => ({
  hear: { method: type, params: { item: value, threadId: 't1', turnId: 'u1' } },
});
export const codexReady: Happening = { hear: { id: 'thread', result: { thread: { id: 't1' }, approvalPolicy: 'untrusted' } } };
export const codexTurn = (turn: number): Happening => ({ hear: { id: `turn:${turn}`, result: { turn: { id: `u${turn}` } } } });
export const codexBegins = (turn: number): Happening => ({
  hear: { method: 'turn/started', params: { threadId: 't1', turn: { id: `u${turn}`, status: 'inProgress' } } },
});
export const codexEnds = (turn: number, status = 'completed'): Happening => ({
  hear: { method: 'turn/completed', params: { threadId: 't1', turn: { id: `u${turn}`, status, error: null } } },
});
export const codexAsks: Happening = {
  hear: {
    id: 0,
    method: 'item/commandExecution/requestApproval',
    params: { itemId: 'c1', command: "/bin/bash -lc 'rm -r x'", cwd: '/place' },
  },
};

export const piReady: Happening = {
  hear: { id: 'get_state', type: 'response', command: 'get_state', success: true, data: { sessionId: 'p1' } },
};
export const piUser = (text: string): Happening => ({
  hear: { type: 'message_end', message: { role: 'user', content: [{ type: 'text', text }] } },
});
export const piSays = (text: string): Happening => ({
  hear: { type: 'message_end', message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' } },
});
export const piSettled: Happening = { hear: { type: 'agent_settled', aborted: false } };
