// Keys at the text that is being written. Pure.

import { continuesLine, edits, emptyComposer, insert, isEmpty, textOf, withText, type Edit } from './composer.ts';
import type { KeyPress } from './keys.ts';
import { completionsOf, runSlash } from './slash.ts';
import { questionNow, takeAnswer } from './questions.ts';
import {
  isBusy,
  shownAsk,
  step,
  withHint,
  written,
  type ChatState,
  type Effect,
  type How,
  type Sending,
  type Step,
} from './state.ts';

/** Inputs that a person may have sent before the node has answered for them. */
const SENDING_INPUTS = 100;

const write = (state: ChatState, text: string): Step => {
  const composer = insert(state.composer, text);
  const full = composer === state.composer && text !== '';
  const next: ChatState = { ...state, composer, completion: 0, focus: 'write', past: { ...state.past, at: null } };
  return step(full ? withHint(next, 'The text is as long as it may be.') : next);
};

/** Gives the text back that was being written before words for something else. */
const restored = (state: ChatState): ChatState => ({
  ...state,
  composer: state.draft,
  draft: emptyComposer,
  purpose: { kind: 'prompt' },
  completion: 0,
});

const send = (state: ChatState, text: string, asked: How): Step => {
  if (state.sending.length >= SENDING_INPUTS)
    return step(withHint(state, `At most ${SENDING_INPUTS} inputs may be on their way; the text stays here.`));
  const how: How = asked.action === undefined ? { steer: asked.steer && isBusy(state) } : asked;
  const sending: Sending = { key: state.sends, text, ...how };
  const said = written(text, how);
  const next: ChatState = {
    ...state,
    composer: withText(state.composer, ''),
    completion: 0,
    sends: state.sends + 1,
    sending: [...state.sending, sending],
    past: { entries: [...state.past.entries, said].slice(-500), at: null, draft: '' },
  };
  const effects: Effect[] = [
    { kind: 'remember', text: said },
    { kind: 'send', sending },
  ];
  return step(asked.steer && !isBusy(state) ? withHint(next, 'No turn runs: it is sent as the next input.') : next, effects);
};

/** Back at the question, when there is another one to answer. */
const answerInWords = (state: ChatState, text: string): Step => {
  const view = shownAsk(state);
  if (view === null) return step(restored(state));
  const taken = takeAnswer(restored(state), view, text);
  return questionNow(taken.state, view) !== null && taken.effects.length === 0
    ? { ...taken, state: { ...taken.state, focus: 'answer' } }
    : taken;
};

const submit = (state: ChatState, steer: boolean): Step => {
  const { purpose } = state;
  const text = textOf(state.composer);
  if (purpose.kind === 'deny')
    return step(restored(state), [
      {
        kind: 'answer',
        interaction: purpose.interaction,
        revision: purpose.revision,
        outcome: 'denied',
        ...(text.trim() === '' ? {} : { message: text }),
      },
    ]);
  if (text.trim() === '') return step(state);
  if (purpose.kind === 'answer') return answerInWords(state, text);
  if (purpose.kind === 'edit') return step(restored(state), [{ kind: 'reword', turn: purpose.turn, text }]);
  return text.startsWith('/') ? runSlash(state, text, send) : send(state, text, { steer });
};

const enter = (state: ChatState): Step => {
  if (!continuesLine(state.composer)) return submit(state, false);
  return step({ ...state, composer: insert(edits.backspace(state.composer), '\n') });
};

/** Older and newer texts of this person, when the cursor cannot go further. */
const past = (state: ChatState, direction: 'up' | 'down'): Step => {
  const { entries, at, draft } = state.past;
  if (direction === 'up') {
    const next = (at ?? entries.length) - 1;
    const text = entries[next];
    if (text === undefined) return step(state);
    return step({
      ...state,
      composer: withText(state.composer, text),
      past: { ...state.past, at: next, draft: at === null ? textOf(state.composer) : draft },
    });
  }
  if (at === null) return step(state);
  const text = entries[at + 1];
  return step({
    ...state,
    composer: withText(state.composer, text ?? draft),
    past: { ...state.past, at: text === undefined ? null : at + 1 },
  });
};

const editText = (state: ChatState, edit: Edit): Step => {
  if (edit === 'up' || edit === 'down') {
    const { length } = completionsOf(state);
    if (length > 1 && state.past.at === null)
      return step({ ...state, completion: (state.completion + (edit === 'up' ? length - 1 : 1)) % length });
  }
  const composer = edits[edit](state.composer);
  if ((edit === 'up' || edit === 'down') && composer === state.composer) return past(state, edit);
  return step({ ...state, composer, completion: 0 });
};

const tab = (state: ChatState): Step => {
  const chosen = completionsOf(state)[state.completion];
  if (chosen !== undefined) return step({ ...state, composer: withText(state.composer, `${chosen.text} `), completion: 0 });
  if (state.asked === null || (!isEmpty(state.composer) && state.purpose.kind !== 'prompt')) return step(state);
  // Who asks for the question has stopped typing.
  const early = state.nowMs < state.asked.armedAtMs - 700;
  return step({ ...state, focus: 'answer', asked: early ? state.asked : { ...state.asked, armedAtMs: state.nowMs } });
};

const escape = (state: ChatState): Step => {
  if (state.purpose.kind !== 'prompt') {
    const back = restored(state);
    return step(state.asked === null ? back : { ...back, focus: 'answer' });
  }
  if (!isBusy(state)) return step(withHint(state, 'No turn runs. Ctrl-D leaves.'));
  if (state.stopping) return step(withHint(state, 'The turn is being stopped.'));
  return step(withHint({ ...state, stopping: true }, 'The turn is being stopped; what waits stays.'), [{ kind: 'interrupt' }]);
};

/** Keys that mean the same at a question and at the text. */
export const onAnyKey = (state: ChatState, key: KeyPress): Step => {
  switch (key.kind) {
    case 'escape':
      return escape(state);
    case 'older':
      return step(state, [{ kind: 'older', before: state.oldest }]);
    case 'details': {
      const [last] = state.transcript.folded;
      return last === undefined
        ? step(withHint(state, 'There is nothing folded.'))
        : step(state, [], [{ kind: 'whole', item: last }]);
    }
    case 'queue':
      return state.turns.length === 0 ? step(withHint(state, 'No input waits.')) : step({ ...state, focus: 'queue' });
    case 'end':
      return isEmpty(state.composer) ? step(state, [{ kind: 'leave' }]) : editText(state, 'delete');
    default:
      return step(state);
  }
};

/** A key at the text. */
export const writeKey = (state: ChatState, key: KeyPress): Step => {
  switch (key.kind) {
    case 'text':
    case 'paste':
      return write(state, key.text);
    case 'edit':
      return editText(state, key.edit);
    case 'enter':
      return enter(state);
    case 'newline':
      return write(state, '\n');
    case 'steer':
      return submit(state, true);
    case 'tab':
      return tab(state);
    default:
      return onAnyKey(state, key);
  }
};
