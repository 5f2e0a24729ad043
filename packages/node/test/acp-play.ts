// Plays dialogues of the protocol for tests, and holds everything that is said against the protocol's own schema.

import schemaFile from '@agentclientprotocol/sdk/schema/v1/schema.json' with { type: 'json' };
import { conversationBody, type ConversationBody, type PermissionMode } from '@orrery/protocol';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import {
  createDialogue,
  type DialogueStart,
  type DialogueStep,
  type SessionCommand,
  type SessionFact,
} from '../src/harness/dialogue.ts';
import type { AcpPreset } from '../src/harness/acp/preset.ts';
import { acpDialect } from '../src/harness/acp/session.ts';

/** What happens: the agent says a frame or bytes, or is told something. */
export type Happening = { readonly hear: object | string | Uint8Array } | { readonly tell: SessionCommand };

export const preset: AcpPreset = {
  program: 'Agent',
  modes: { ask: ['default'], plan: ['plan'] },
  hidesFailures: false,
  counts: 'turn',
  logins: [],
  quiet: ['vendor/quiet'],
  choosesInSession: false,
  images: true,
  tellsContext: true,
  compact: '/compress',
};

export const START: DialogueStart = {
  conversation: null,
  branch: null,
  workdir: '/place',
  model: null,
  effort: null,
  mode: 'ask' as PermissionMode,
};

export type Played = {
  readonly steps: readonly DialogueStep[];
  readonly events: readonly ConversationBody[];
  readonly facts: readonly SessionFact[];
  readonly said: readonly Said[];
};

export type Said = { readonly id?: unknown; readonly method?: string; readonly params?: Readonly<Record<string, unknown>> } & {
  readonly result?: unknown;
  readonly error?: unknown;
};

/** `cut` gives bytes one at a time, `restart` stores the state after each happening and goes on from it. */
export type How = {
  readonly preset?: Partial<AcpPreset>;
  readonly start?: Partial<DialogueStart>;
  readonly cut?: boolean;
  readonly restart?: boolean;
};

const bytesOf = (heard: object | string | Uint8Array): Uint8Array =>
  heard instanceof Uint8Array
    ? heard
    : new TextEncoder().encode(`${typeof heard === 'string' ? heard : JSON.stringify({ jsonrpc: '2.0', ...heard })}\n`);

export const play = (script: readonly Happening[], how: How = {}): Played => {
  const dialect = acpDialect({ ...preset, ...how.preset });
  let dialogue = createDialogue(dialect, { offset: 0, state: null });
  const steps: DialogueStep[] = [dialogue.begin({ ...START, ...how.start })];
  for (const happening of script) {
    if ('tell' in happening) steps.push(dialogue.tell(happening.tell));
    else {
      const bytes = bytesOf(happening.hear);
      const pieces = how.cut === true ? [...bytes].map((byte) => new Uint8Array([byte])) : [bytes];
      for (const piece of pieces) steps.push(...dialogue.push(piece));
    }
    if (how.restart !== true) continue;
    const { offset, state } = dialogue.position();
    dialogue = createDialogue(dialect, { offset, state: JSON.parse(JSON.stringify(state)) });
  }
  const said = steps.flatMap(({ frames }) => frames.map(({ text }) => JSON.parse(text) as Said));
  for (const one of said) expectOfProtocol(one);
  const events = steps.flatMap((step) => step.events);
  for (const event of events) expect(conversationBody.safeParse(event)).toMatchObject({ success: true });
  return { steps, events, facts: steps.flatMap(({ facts }) => facts), said };
};

type Definition = { readonly 'x-method'?: string; readonly 'x-side'?: string };
const schema = schemaFile as unknown as { readonly $defs: Readonly<Record<string, Definition>> };
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(schema, 'acp');

const definitionOf = (method: string): string | undefined =>
  Object.entries(schema.$defs).find(
    ([name, definition]) =>
      definition['x-method'] === method && definition['x-side'] === 'agent' && /(Request|Notification)$/.test(name),
  )?.[0];

const expectOf = (definition: string, value: unknown): void => {
  const valid = ajv.validate({ $ref: `acp#/$defs/${definition}` }, value);
  expect({ definition, value, errors: valid ? [] : ajv.errors }).toMatchObject({ errors: [] });
};

/** A message of ours is one of the protocol, by its own schema: a request or a notice by its method, else an answer. */
export const expectOfProtocol = ({ id, method, params, result, error, ...rest }: Said): void => {
  expect(rest).toEqual({ jsonrpc: '2.0' });
  if (method !== undefined) {
    const definition = definitionOf(method);
    expect({ method, definition }).toMatchObject({ definition: expect.any(String) });
    expectOf(definition ?? '', params);
    expect(id === undefined).toBe(definition?.endsWith('Notification'));
  } else if (error !== undefined) expectOf('Error', error);
  else expectOf('RequestPermissionResponse', result);
};
