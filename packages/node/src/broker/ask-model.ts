// A question of the node itself to the model that works for a task: through the gateway and with the run token of the
// task's environment, so that provider, account, budget and usage are those of the task.

import { request, type IncomingMessage } from 'node:http';
import { OrreryError } from '@orrery/protocol/errors';
import type { Kysely } from 'kysely';
import { z } from 'zod';
import { onFailure } from '../kernel/request-failure.ts';
import type { Tables } from '../store/tables.ts';
import { ASKED_ANSWER_BYTES, ASKED_TOKENS } from './limits.ts';
import type { OwnQuestions } from './own-questions.ts';

/** What is asked. */
export type Question = {
  readonly environmentId: string;
  /** Run token of the environment. */
  readonly token: string;
  /** Absent: the model that answered the agent of the environment last. */
  readonly model?: { readonly provider: string; readonly model: string };
  readonly system: string;
  readonly text: string;
  readonly signal: AbortSignal;
};

type Wire = { readonly path: string; readonly body: object; readonly answer: z.ZodType<string> };

const textOf = (parts: readonly { readonly text?: string | undefined }[]): string => parts.map(({ text = '' }) => text).join('');
const part = z.looseObject({ text: z.string().optional() });

/** The form of a provider; one that is not named here is taken to speak Chat Completions. */
const wireOf = (provider: string, model: string, { system, text }: Question): Wire => {
  const messages = [{ role: 'user', content: text }];
  switch (provider) {
    case 'anthropic':
      return {
        path: '/v1/messages',
        body: { model, max_tokens: ASKED_TOKENS, system, messages },
        answer: z.looseObject({ content: z.array(part) }).transform(({ content }) => textOf(content)),
      };
    case 'openai':
      return {
        path: '/v1/responses',
        body: { model, max_output_tokens: ASKED_TOKENS, store: false, instructions: system, input: messages },
        answer: z
          .looseObject({ output: z.array(z.looseObject({ content: z.array(part).optional() })) })
          .transform(({ output }) => textOf(output.flatMap(({ content = [] }) => content))),
      };
    case 'google':
      return {
        path: `/v1beta/models/${model}:generateContent`,
        body: {
          systemInstruction: { parts: [{ text: system }] },
          contents: [{ role: 'user', parts: [{ text }] }],
          generationConfig: { maxOutputTokens: ASKED_TOKENS, responseMimeType: 'application/json' },
        },
        answer: z
          .looseObject({ candidates: z.array(z.looseObject({ content: z.looseObject({ parts: z.array(part) }) })) })
          .transform(({ candidates }) => textOf(candidates[0]?.content.parts ?? [])),
      };
    default:
      return {
        path: '/v1/chat/completions',
        body: { model, max_tokens: ASKED_TOKENS, messages: [{ role: 'system', content: system }, ...messages] },
        answer: z
          .looseObject({ choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string() }) })) })
          .transform(({ choices }) => choices[0]?.message.content ?? ''),
      };
  }
};

/** The provider and model of the newest call of an environment that was answered. */
const lastModel = async (db: Kysely<Tables>, environmentId: string): Promise<{ provider: string; model: string }> => {
  const found = await db
    .selectFrom('model_call')
    .select(['provider', 'model'])
    .where('environment_id', '=', environmentId)
    .where('status', '=', 200)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (found !== undefined) return found;
  throw new OrreryError('agent_failed', 'The agent called no model that could be asked.', {
    rule: 'A goal is judged by the model that did the work.',
  });
};

const readAnswer = async (answer: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer) {
    parts.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes > ASKED_ANSWER_BYTES)
      throw new OrreryError('agent_failed', 'The answer of the model is too long.', {
        rule: `At most ${ASKED_ANSWER_BYTES} bytes.`,
      });
  }
  return Buffer.concat(parts).toString('utf8');
};

const post = (
  socketPath: string,
  {
    path,
    body,
    token,
    sign,
    signal,
  }: {
    readonly path: string;
    readonly body: object;
    readonly token: string;
    readonly sign: OwnQuestions['sign'];
    readonly signal: AbortSignal;
  },
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const headers = {
      ...sign,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    };
    const asking = request({ socketPath, path, method: 'POST', headers, signal }, (answer) => {
      readAnswer(answer).then((text) => resolve({ status: answer.statusCode ?? 0, text }), reject);
    });
    onFailure(asking, reject);
    asking.end(JSON.stringify(body));
  });

/**
 * Asks a model, where none is named the one that answered the agent of an environment last; answers its text. @throws OrreryError agent_failed when
 * the gateway or the provider refused, or the answer cannot be read; the gateway knows why
 */
export const askModel = async (
  { socketPath, db, sign }: { readonly socketPath: string; readonly db: Kysely<Tables>; readonly sign: OwnQuestions['sign'] },
  question: Question,
): Promise<string> => {
  const { provider, model } = question.model ?? (await lastModel(db, question.environmentId));
  const wire = wireOf(provider, model, question);
  const { status, text } = await post(socketPath, {
    path: `/models/${provider}${wire.path}`,
    body: wire.body,
    token: question.token,
    sign,
    signal: question.signal,
  });
  if (status !== 200) throw new OrreryError('agent_failed', `The model was not asked: ${provider} answered ${status}.`);
  const read = wire.answer.safeParse(parse(text));
  if (read.success) return read.data;
  throw new OrreryError('agent_failed', `The answer of ${provider} cannot be read.`);
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
