// The real agent programs, a scripted model of the test's own process, and a node that knows both.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { start, type ScriptedModel } from '@orrery/scripted-model';
import { afterAll } from 'vitest';
import { PROGRAMS } from './place.ts';

export const agentNames = ['claude', 'codex', 'pi'] as const;
export type AgentName = (typeof agentNames)[number];

/** Programs that hold sessions beside them, over the Agent Client Protocol. */
export const acpNames = ['opencode', 'gemini', 'copilot', 'qwen'] as const;
export type TalkerName = AgentName | (typeof acpNames)[number];

/** The provider each one calls. */
export const providerOf: Readonly<Record<AgentName, 'anthropic' | 'openai'>> = {
  claude: 'anthropic',
  codex: 'openai',
  pi: 'anthropic',
};

/** Whether the program is there; when not, it is said aloud, since nothing then shows that it works. */
export const isThere = (name: TalkerName): boolean => {
  const there = existsSync(join(PROGRAMS, name, 'node_modules'));
  if (!there) process.stderr.write(`SKIPPED: ${name} is not installed below ${PROGRAMS}; nothing here says that it works.\n`);
  return there;
};

/** The key that only the model server may see. */
export const PROVIDER_KEY = 'made-up-provider-key';

/** Configuration of a node whose providers are the scripted model. */
export const configFor = (model: ScriptedModel, more: object = {}): object => ({
  queue: { parallel: 4, perProject: 4 },
  providers: {
    anthropic: { baseUrl: model.url, apiKey: 'secret:test' },
    openai: { baseUrl: model.url, apiKey: 'secret:test' },
    google: { baseUrl: model.url, apiKey: 'secret:test' },
  },
  ...more,
});

/** A script for the conversations whose prompt holds `[name]`, from its beginning for each of them. */
export const scriptsOf = (cases: Readonly<Record<string, readonly object[]>>): object => ({
  steps: [],
  scripts: Object.fromEntries(
    Object.entries(cases).map(([name, steps]) => [name, { marker: `[${name}]`, perConversation: true, steps }]),
  ),
});

/** A model for the tests of one group. */
export const modelOfSuite = async (script: object): Promise<ScriptedModel> => {
  const model = await start({ script });
  afterAll(() => model.close());
  return model;
};

/** Model calls of one conversation, oldest first. */
export const callsWith = (model: ScriptedModel, marker: string) =>
  model
    .log()
    .filter((record) => record.call !== undefined && record.call.opening.includes(marker) && record.call.tools.length > 0);

/** What was said in the newest model call of an agent; one without tools is a call beside the turn. */
export const lastCallOf = (model: ScriptedModel): string =>
  model
    .log()
    .filter(({ call }) => call !== undefined && call.tools.length > 0)
    .at(-1)?.body ?? '';
