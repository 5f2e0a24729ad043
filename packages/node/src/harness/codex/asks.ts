// What Codex asks, and what it is answered. Pure.

import type { Answers, InteractionAsk, InteractionOutcome, Question } from '@orrery/protocol';
import { asText, clip } from '../clip.ts';
import { formAnswer, formAsk } from '../forms.ts';
import { INLINE_TEXT_BYTES } from '../limits.ts';
import type { State } from './session-state.ts';
import { approval, elicitation, userInput } from './session-wire.ts';

const COMMAND = 'item/commandExecution/requestApproval';
const CHANGE = 'item/fileChange/requestApproval';
const FORM = 'mcpServer/elicitation/request';
const QUESTIONS = 'item/tool/requestUserInput';

/** A command or a change of files to be decided; a change is that of an item it told before. */
const approvalAsk = (method: string, params: unknown, changes: State['changes']): InteractionAsk => {
  const asked = approval.parse(params);
  const change = changes.find(({ id }) => id === asked.itemId) ?? null;
  const common = { questions: [], outcomes: ['approved', 'approved-for-session', 'denied'] } satisfies Partial<InteractionAsk>;
  if (method === COMMAND) {
    const command = asked.command ?? '';
    return {
      ...common,
      kind: 'command',
      tool: 'shell',
      title: asked.reason ?? 'Run a command',
      command,
      paths: [],
      detail: command,
    };
  }
  const paths = change?.paths ?? [];
  return {
    ...common,
    kind: 'edit',
    tool: 'apply_patch',
    title: asked.reason ?? `Change ${paths.join(', ')}`,
    command: null,
    paths: [...paths],
    detail: change?.text ?? asked.grantRoot ?? '',
  };
};

/** What an MCP server wants to know; Codex itself asks by the same request whether it may call one of its tools. */
const elicitationAsk = (params: unknown): InteractionAsk | null => {
  const { data } = elicitation.safeParse(params);
  if (data === undefined) return null;
  const { serverName: server, message, _meta: meta } = data;
  if (meta?.codex_approval_kind === 'mcp_tool_call')
    return {
      ...{ kind: 'tool', tool: server, title: message, command: null, paths: [], questions: [] },
      detail: clip(asText(meta.tool_params), INLINE_TEXT_BYTES),
      outcomes: isForSession(meta.persist) ? ['approved', 'approved-for-session', 'denied'] : ['approved', 'denied'],
    };
  return formAsk({ server, message, url: data.mode === 'url' ? (data.url ?? '') : null, schema: data.requestedSchema });
};

const isForSession = (persist: unknown): boolean =>
  persist === 'session' || (Array.isArray(persist) && persist.includes('session'));

/** Questions of the agent's own. A secret is not taken: it would stand in the log. */
const questionsAsk = (params: unknown): InteractionAsk | null => {
  const { data } = userInput.safeParse(params);
  const [first] = data?.questions ?? [];
  if (data === undefined || first === undefined) return null;
  const secret = data.questions.some(({ isSecret }) => isSecret);
  const questions = data.questions.map(({ id, header, question, isOther, options }): Question => ({
    ...{ key: id, header, text: question, type: 'text' },
    choices: (options ?? []).map(({ label, description }) => ({ value: label, label, description })),
    ...{ several: false, free: isOther || (options ?? []).length === 0, required: true, min: null, max: null },
    ...{ format: null, initial: null },
  }));
  const title = questions.length === 1 ? first.question : `${questions.length} questions`;
  return {
    ...{ kind: 'question', tool: 'request_user_input', title, command: null, paths: [] },
    detail: secret ? 'It asks for a secret, and would get it in plain words: secrets are kept by the node.' : '',
    questions,
    outcomes: secret ? ['denied'] : ['answered', 'denied'],
  };
};

/** What a request of the program asks; null: nobody here answers that. */
export const askOf = (method: string, params: unknown, changes: State['changes']): InteractionAsk | null => {
  switch (method) {
    case COMMAND:
    case CHANGE:
      return approvalAsk(method, params, changes);
    case FORM:
      return elicitationAsk(params);
    case QUESTIONS:
      return questionsAsk(params);
    default:
      return null;
  }
};

type Given = { readonly outcome: InteractionOutcome; readonly answers: Answers | null; readonly message: string | null };

const decisions: Readonly<Partial<Record<InteractionOutcome, string>>> = {
  approved: 'accept',
  'approved-for-session': 'acceptForSession',
};

/** The result of a request, in the program's form. */
export const resultOf = (method: string, { outcome, answers }: Given): object => {
  if (method === FORM) {
    const { action, content } = formAnswer(outcome, answers);
    return { action, content: content ?? null, _meta: outcome === 'approved-for-session' ? { persist: 'session' } : null };
  }
  if (method === QUESTIONS)
    return { answers: Object.fromEntries(Object.entries(answers ?? {}).map(([id, said]) => [id, { answers: [String(said)] }])) };
  return { decision: decisions[outcome] ?? 'decline' };
};
