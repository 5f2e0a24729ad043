// How a process begins: what it speaks, its conversation, its mode, model and effort; then it takes prompts.

import type { PermissionMode } from '@orrery/protocol';
import type { DialogueStart, SessionCatalogue, SessionFact } from '../dialogue.ts';
import { noticeOf } from '../frames.ts';
import { wantsLogin, wordsOf } from './failures.ts';
import type { AcpPreset } from './preset.ts';
import { joined, noTokens, request, type State, type Step } from './state.ts';
import { initialized, opened, settings, type ConfigOption, type RpcError, type Settings } from './wire.ts';

/** The version of the protocol that this adapter speaks. */
const VERSION = 1;

/** The first words. Nothing else may be said before they are answered. */
export const begin = ({ conversation, workdir, model, effort, mode }: DialogueStart): Step => {
  const start: State = {
    start: { cwd: workdir, model, effort, mode, conversation },
    ...{ session: null, resumed: false, ready: false, goesOn: null, logins: [], requests: 0, pending: {} },
    ...{ modes: [], modeOption: null, mode: null, turn: null, last: 0, accepted: false, rows: 0, text: null },
    ...{ calls: {}, asks: {}, stopped: false, notes: [], usage: noTokens, counted: noTokens },
  };
  // Files and terminals are in its own reach: it is in the same place.
  const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  const clientInfo = { name: 'orrery', title: 'Orrery', version: '1' };
  const params = { protocolVersion: VERSION, clientCapabilities, clientInfo };
  return request(start, { purpose: 'initialize', method: 'initialize', params });
};

const unfit = (now: State, reason: string): Step => ({ state: now, facts: [{ kind: 'unfit', reason }] });

/** It says what it can. */
export const onInitialized = (now: State, result: unknown, preset: AcpPreset): Step => {
  const { data } = initialized.safeParse(result);
  if (data === undefined) return unfit(now, `${preset.program} does not answer in the Agent Client Protocol.`);
  if (data.protocolVersion !== VERSION)
    return unfit(now, `${preset.program} speaks version ${data.protocolVersion} of the Agent Client Protocol, not ${VERSION}.`);
  const { loadSession, sessionCapabilities } = data.agentCapabilities;
  const goesOn = sessionCapabilities.resume ? 'resume' : loadSession ? 'load' : null;
  const offered = new Set(data.authMethods.map(({ id }) => id));
  const logins = preset.logins.filter((id) => offered.has(id));
  return open({ ...now, goesOn, logins }, preset);
};

/** Goes on with the conversation where it can, else begins one. */
const open = (now: State, { program }: AcpPreset): Step => {
  const { cwd, conversation } = now.start;
  const place = { cwd, mcpServers: [] };
  if (conversation === null) return request(now, { purpose: 'open', method: 'session/new', params: place });
  if (now.goesOn !== null) {
    const resumed = { ...now, resumed: true, session: conversation };
    const params = { ...place, sessionId: conversation };
    return request(resumed, { purpose: 'open', method: `session/${now.goesOn}`, params });
  }
  return joined(
    { events: [noticeOf('warning', `${program} cannot go on with a conversation; it begins a new one.`)] },
    request(without(now), { purpose: 'open', method: 'session/new', params: place }),
  );
};

/** From here on it is a new conversation. */
const without = (now: State): State => ({
  ...now,
  start: { ...now.start, conversation: null },
  resumed: false,
  session: null,
});

/** It did not open: somebody has to log in, or there is no such conversation, or it is of no use. */
export const onNotOpened = (now: State, error: RpcError, preset: AcpPreset): Step => {
  const [login, ...logins] = now.logins;
  if (wantsLogin(error)) {
    if (login === undefined) return unfit(now, `${preset.program} wants somebody to log in: ${wordsOf(error)}`);
    return request({ ...now, logins }, { purpose: 'login', method: 'authenticate', params: { methodId: login } });
  }
  if (!now.resumed) return unfit(now, `${preset.program}: ${wordsOf(error)}`);
  const text = `${preset.program} does not have this conversation any more; it begins a new one. (${wordsOf(error)})`;
  return joined({ events: [noticeOf('warning', text)] }, open(without(now), preset));
};

/** It is logged in, or not: it is asked again. */
export const onLogin = (now: State, error: RpcError | undefined, preset: AcpPreset): Step =>
  error === undefined ? open(now, preset) : onNotOpened(now, error, preset);

/** Its conversation is there. Mode, model and effort are chosen next, each as it offers them. */
export const onOpened = (now: State, result: unknown, preset: AcpPreset): Step => {
  const id = opened.safeParse(result).data?.sessionId ?? now.session;
  if (id === null) return unfit(now, `${preset.program} began a conversation without a name.`);
  const found = settings.safeParse(result).data ?? { modes: null, models: null, configOptions: [] };
  const said = learnSettings({ ...now, session: id }, found);
  const chosen = [
    chooseMode(said.state, preset, now.start.mode),
    ...(preset.choosesInSession ? [chooseModel(now, found, preset), chooseEffort(now, found, preset)] : []),
  ];
  let step: Step = { ...said, facts: [{ kind: 'conversation', id }, ...(said.facts ?? [])] };
  for (const choice of chosen) step = joined(step, ask(step.state, choice));
  return settled(step);
};

type Choice = { readonly method: string; readonly params: object } | { readonly notice: string } | null;

const ask = (now: State, choice: Choice): Step => {
  if (choice === null) return { state: now };
  if ('notice' in choice) return { state: now, events: [noticeOf('warning', choice.notice)] };
  return request(now, { purpose: 'setting', method: choice.method, params: { sessionId: now.session, ...choice.params } });
};

/** Ready, once nothing is being chosen any more. */
export const settled = (step: Step): Step => {
  if (step.state.ready || Object.values(step.state.pending).includes('setting')) return step;
  return { ...step, state: { ...step.state, ready: true }, facts: [...(step.facts ?? []), { kind: 'ready' }] };
};

const byCategory = ({ configOptions }: Settings, category: string): ConfigOption | null =>
  configOptions.find((option) => option.category === category) ?? null;

/** Modes and models that it reports. */
export const learnSettings = (now: State, found: Settings): Step => {
  const option = byCategory(found, 'mode');
  const names = found.modes?.availableModes.map(({ id }) => id) ?? option?.options.map(({ value }) => value) ?? [];
  const current = found.modes?.currentModeId ?? option?.currentValue;
  const mode = typeof current === 'string' ? current : now.mode;
  const modeOption = found.modes != null ? null : (option?.id ?? now.modeOption);
  const modes = names.length === 0 ? now.modes : names;
  const models = modelsOf(found);
  return {
    state: { ...now, modes, mode, modeOption },
    facts: [
      ...(mode === null || mode === now.mode ? [] : [modeFact(mode)]),
      ...(models.length === 0 ? [] : [{ kind: 'catalogue', catalogue: { models } } as const]),
    ],
  };
};

const modelsOf = (found: Settings): SessionCatalogue['models'] => {
  const efforts = byCategory(found, 'thought_level')?.options.map(({ value }) => value) ?? [];
  const own = found.models?.availableModels.map(({ modelId, name }) => ({ id: modelId, name: name || modelId, efforts }));
  const options = byCategory(found, 'model')?.options.map(({ value, name }) => ({ id: value, name: name || value, efforts }));
  return own ?? options ?? [];
};

/** A name that is an address is shown by its end. */
export const modeFact = (mode: string): SessionFact => ({ kind: 'mode', mode: mode.split('#').at(-1) ?? mode });

const chooseMode = (now: State, preset: AcpPreset, mode: PermissionMode): Choice => {
  if (now.modes.length === 0) return null;
  const wanted = preset.modes[mode] ?? preset.modes.ask;
  const found = wanted.find((name) => now.modes.includes(name));
  if (found === undefined)
    return {
      notice: `${preset.program} has no mode for "${mode}" among its own: ${now.modes.join(', ')}. It stays in ${now.mode}.`,
    };
  // It tells an old conversation without waiting for itself: what it tells is over once it has answered something else.
  const tellsYet = preset.tellsLate === true && now.resumed && !now.ready;
  if (found === now.mode && !tellsYet) return null;
  return now.modeOption === null
    ? { method: 'session/set_mode', params: { modeId: found } }
    : { method: 'session/set_config_option', params: { configId: now.modeOption, value: found } };
};

/** Tells it another mode. What the mode allows is the node's to answer; only its own plan mode is told. */
export const tellMode = (now: State, preset: AcpPreset, mode: PermissionMode): Step => {
  const next = { ...now, start: { ...now.start, mode } };
  return now.ready ? ask(next, chooseMode(now, preset, mode)) : { state: next };
};

const chooseModel = (now: State, found: Settings, { program }: AcpPreset): Choice => {
  const { model } = now.start;
  if (model === null) return null;
  const option = byCategory(found, 'model');
  if (option === null) return { notice: `${program} offers no choice of models; it uses its own.` };
  return chooseOption(option, { value: model, otherwise: `${program} does not have the model ${model}; it uses its own.` });
};

const chooseEffort = (now: State, found: Settings, { program }: AcpPreset): Choice => {
  const { effort } = now.start;
  if (effort === null) return null;
  const option = byCategory(found, 'thought_level');
  if (option === null) return { notice: `${program} offers no choice of effort; it uses its own.` };
  return chooseOption(option, { value: effort, otherwise: `${program} does not have the effort ${effort}; it uses its own.` });
};

const chooseOption = (option: ConfigOption, { value, otherwise }: { value: string; otherwise: string }): Choice => {
  if (option.currentValue === value) return null;
  if (!option.options.some((one) => one.value === value)) return { notice: otherwise };
  return { method: 'session/set_config_option', params: { configId: option.id, value } };
};
