import { describe, expect, it } from 'vitest';
import { createAnswerReader, type AnswerFacts } from './answer-reader.ts';
import type { WireName } from './model.ts';

const read = (wire: WireName, text: string, more: { status?: number; contentType?: string; size?: number } = {}): AnswerFacts => {
  const reader = createAnswerReader({
    wire,
    status: more.status ?? 200,
    contentType: more.contentType ?? 'text/event-stream; charset=utf-8',
    encoded: false,
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += more.size ?? bytes.length)
    reader.push(bytes.subarray(at, at + (more.size ?? bytes.length)));
  return reader.end();
};
const sse = (...values: unknown[]): string =>
  values.map((value) => `event: x\r\ndata: ${typeof value === 'string' ? value : JSON.stringify(value)}\r\n\r\n`).join('');

const counts = { inputTokens: 160, outputTokens: 20, cachedTokens: 50, cacheWriteTokens: 10, reasoningTokens: 0 };

const streams: Readonly<Record<WireName, { text: string; tokens: object }>> = {
  anthropic: {
    text: sse(
      {
        type: 'message_start',
        message: {
          model: 'm',
          usage: { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 50, cache_creation_input_tokens: 10 },
        },
      },
      { type: 'content_block_delta', delta: { text: 'grün "usage" 🦀' } },
      { type: 'message_delta', usage: { output_tokens: 20 } },
      { type: 'message_stop' },
    ),
    tokens: counts,
  },
  responses: {
    text: sse(
      { type: 'response.output_text.delta', delta: '"usage' },
      {
        type: 'response.completed',
        response: {
          model: 'm',
          usage: {
            input_tokens: 160,
            input_tokens_details: { cached_tokens: 50, cache_write_tokens: 10 },
            output_tokens: 20,
            output_tokens_details: { reasoning_tokens: 7 },
          },
        },
      },
    ),
    tokens: { ...counts, reasoningTokens: 7 },
  },
  chat: {
    text: sse(
      { model: 'm', choices: [{ delta: { content: 'x' }, finish_reason: null }] },
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
      {
        model: 'm',
        choices: [],
        usage: { prompt_tokens: 160, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 50 } },
      },
      '[DONE]',
    ),
    tokens: { ...counts, cacheWriteTokens: 0 },
  },
  gemini: {
    text: sse(
      { candidates: [{ content: {} }], modelVersion: 'm', usageMetadata: { promptTokenCount: 160, candidatesTokenCount: 1 } },
      {
        candidates: [{ finishReason: 'STOP' }],
        modelVersion: 'm',
        usageMetadata: { promptTokenCount: 160, candidatesTokenCount: 15, thoughtsTokenCount: 5, cachedContentTokenCount: 50 },
      },
    ),
    tokens: { ...counts, cacheWriteTokens: 0, reasoningTokens: 5 },
  },
};

describe('the reader of answers', () => {
  it.each(Object.keys(streams) as WireName[])('counts a stream of %s, whole and byte by byte', (wire) => {
    const { text, tokens } = streams[wire];
    const expected = { tokens, model: 'm', failure: null, whole: true };
    expect(read(wire, text)).toEqual(expected);
    expect(read(wire, text, { size: 1 })).toEqual(expected);
  });

  it('counts what a cut stream said before', () => {
    const { text } = streams.anthropic;
    expect(read('anthropic', text.slice(0, text.indexOf('message_delta') - 20))).toEqual({
      tokens: { ...counts, outputTokens: 1 },
      model: 'm',
      failure: null,
      whole: false,
    });
    expect(read('responses', streams.responses.text.slice(0, 60))).toMatchObject({ tokens: null, whole: false });
  });

  it('tells an error inside a stream, an error answer and garbage apart', () => {
    expect(
      read(
        'anthropic',
        sse(
          { type: 'message_start', message: {} },
          { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
        ),
      ).failure,
    ).toMatchObject({ failure: 'overloaded' });
    expect(
      read('responses', sse({ type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'slow' } } }))
        .failure,
    ).toMatchObject({ failure: 'rate_limit' });
    expect(read('chat', '{"error":{"message":"no","type":"insufficient_quota"}}', { status: 429 }).failure).toMatchObject({
      failure: 'billing',
      message: 'no',
    });
    expect(read('chat', 'data: <html>\n\n<<<').failure).toMatchObject({ failure: 'protocol' });
    expect(read('chat', '<html>', { contentType: 'text/html' }).failure).toMatchObject({ failure: 'protocol' });
  });

  it('is not misled by shapes of another kind', () => {
    const strange = sse(
      { type: 'message_start', message: { usage: { input_tokens: 'many', output_tokens: -1 } } },
      { type: 'message_delta', usage: [] },
      { type: 'message_stop' },
    );
    expect(read('anthropic', strange)).toMatchObject({ tokens: { inputTokens: 0, outputTokens: 0 }, failure: null, whole: true });
  });
});
