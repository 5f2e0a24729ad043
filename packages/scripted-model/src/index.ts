export { start } from './server.ts';
export type { ScriptedModel, ScriptedModelOptions } from './server.ts';
export { parseScript, ScriptError } from './script.ts';
export type { EditIntent, ExactError, NamedScript, Script, Step, ToolStep, WriteIntent } from './script.ts';
export type { CallRecord } from './call-log.ts';
export { USAGE_LIMIT_SECONDS } from './refusal.ts';
export type { RefusalName } from './refusal.ts';
