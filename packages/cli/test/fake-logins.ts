// Logins of the agent programs of a fake node: codex by a code that is typed at the second look, pi with a token.
import type { HarnessLoginView, OperationName } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { ago, type FakeState } from './fake-state.ts';

const none: HarnessLoginView = {
  ...{ harness: 'codex', paidBy: 'nothing', state: 'none', ways: ['device'], account: 'a ChatGPT subscription', who: null },
  ...{ since: null, prints: null, url: null, code: null, waitsUntil: null, problem: null },
};
const waiting: HarnessLoginView = {
  ...none,
  ...{ state: 'waiting', url: 'https://auth.example/codex/device', code: 'ABCD-EFGH1', waitsUntil: ago(-900_000) },
};
const kept: HarnessLoginView = {
  ...none,
  ...{ paidBy: 'login', state: 'kept', who: 'ann@example.org (plus)', since: ago(0) },
};
const byToken: HarnessLoginView = { ...none, harness: 'pi', ways: ['token'], prints: '/programs/pi setup-token' };
const cannot: HarnessLoginView = {
  ...none,
  harness: 'command',
  paidBy: 'nobody',
  ways: [],
  account: null,
  problem: 'It calls no model.',
};

const shown = (id: string | undefined, state: FakeState): HarnessLoginView => {
  if (id === 'pi') return byToken;
  if (id === 'command') return cannot;
  if (state.looks === 0) return none;
  state.looks += 1;
  return state.looks > 3 ? kept : waiting;
};

/** The answer of an operation on logins; undefined for any other. */
export const loginAnswer = (
  name: OperationName,
  { params, body }: { readonly params: Record<string, string>; readonly body: Record<string, unknown> },
  state: FakeState,
): unknown => {
  const { id } = params;
  if (name === 'harnessLoginShow') return shown(id, state);
  if (name === 'harnessLogout') {
    state.looks = 0;
    return { ...none, harness: id };
  }
  if (name !== 'harnessLogin') return undefined;
  if (id === 'command') throw new OrreryError('unsupported', 'command cannot be logged in.', { rule: 'It calls no model.' });
  if (id === 'pi') return { ...byToken, paidBy: body['token'] === 'good' ? 'login' : 'nothing', state: 'kept' };
  state.looks = 1;
  return waiting;
};
