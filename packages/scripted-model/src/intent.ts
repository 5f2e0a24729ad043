/**
 * What a script wants done, said without naming a program's tools: write a file, edit lines, run a command.
 * Each intent becomes a call of whatever the program offered for it, found by the tool's name and its schema.
 */
import type { JsonObject } from './json.ts';
import { asList, asObject, isObject } from './json.ts';
import type { ToolOffer } from './model-call.ts';
import type { EditIntent, ToolStep, WriteIntent } from './script.ts';

/** No offered tool can do what the step asks for. The message names the intent and what was offered. */
export class NoSuchTool extends Error {
  override readonly name = 'NoSuchTool';
}

const WRITERS = ['Write', 'write', 'write_file', 'create_file', 'Create', 'create', 'editor'];
const EDITORS = ['Edit', 'edit', 'replace', 'str_replace', 'edit_file'];
const SHELLS = [
  'Bash',
  'bash',
  'exec_command',
  'shell',
  'local_shell',
  'shell_command',
  'run_shell_command',
  'run_command',
  'execute_command',
  'Execute',
  'run_commands',
];

/**
 * The calls that write a whole file. Claude Code refuses to write over a file that the conversation has not read, so
 * where it offers Read that comes first, unless the file is said to be fresh. @throws NoSuchTool
 */
export function callsToWrite(tools: readonly ToolOffer[], intent: WriteIntent): ToolStep[] {
  const writer = find(tools, WRITERS);
  if (writer !== undefined) {
    const reading = writer.name === 'Write' && intent.fresh !== true ? readingFirst(tools, intent.path) : [];
    const contentKey = key(writer, ['content', 'file_text', 'new_text', 'text']);
    return [...reading, { tool: writer.name, input: { [pathKey(writer)]: intent.path, [contentKey]: intent.content } }];
  }
  const patch = find(tools, ['apply_patch']);
  if (patch !== undefined)
    return [patchCall(patch, [`*** Add File: ${intent.path}`, ...lines(intent.content).map((line) => `+${line}`)])];
  if (find(tools, SHELLS) === undefined) throw noTool('write', tools);
  const folder = intent.path.includes('/')
    ? `mkdir -p ${quote(intent.path.slice(0, intent.path.lastIndexOf('/')) || '/')} && `
    : '';
  return callsToRun(tools, `${folder}printf '%s' ${quote(intent.content)} > ${quote(intent.path)}`);
}

/**
 * The calls that replace the lines `old` by the lines `new`, once. Claude Code refuses to edit a file that the
 * conversation has not read, so where it offers Read that comes first. @throws NoSuchTool
 */
export function callsToEdit(tools: readonly ToolOffer[], intent: EditIntent): ToolStep[] {
  const editor = find(tools, EDITORS);
  if (editor !== undefined) {
    const read = editor.name === 'Edit' ? readingFirst(tools, intent.path) : [];
    return [...read, { tool: editor.name, input: editInput(editor, intent) }];
  }
  const patch = find(tools, ['apply_patch']);
  if (patch !== undefined) {
    const hunk = [...lines(intent.old).map((line) => `-${line}`), ...lines(intent.new).map((line) => `+${line}`)];
    return [patchCall(patch, [`*** Update File: ${intent.path}`, '@@', ...hunk])];
  }
  if (find(tools, SHELLS) === undefined) throw noTool('edit', tools);
  const script = 's/\\Q$ENV{OLD}\\E/$ENV{NEW}/';
  return callsToRun(
    tools,
    `OLD=${quote(intent.old)} NEW=${quote(intent.new)} perl -0pi -e ${quote(script)} ${quote(intent.path)}`,
  );
}

/** The calls that run a command in the program's shell. @throws NoSuchTool */
export function callsToRun(tools: readonly ToolOffer[], command: string): ToolStep[] {
  const shell = find(tools, SHELLS);
  if (shell === undefined) throw noTool('shell', tools);
  const name = key(shell, ['command', 'cmd', 'script']);
  const asArray = asObject(shell.properties[name])['type'] === 'array';
  const described = 'description' in shell.properties ? { description: 'scripted command' } : {};
  return [{ tool: shell.name, input: { [name]: asArray ? ['bash', '-lc', command] : command, ...described } }];
}

function readingFirst(tools: readonly ToolOffer[], path: string): ToolStep[] {
  const reader = find(tools, ['Read']);
  return reader === undefined ? [] : [{ tool: reader.name, input: { [pathKey(reader)]: path } }];
}

function editInput(editor: ToolOffer, intent: EditIntent): JsonObject {
  const path = { [pathKey(editor)]: intent.path };
  if ('edits' in editor.properties) {
    const item = asObject(asObject(asObject(editor.properties['edits'])['items'])['properties']);
    return { ...path, edits: [replacement(item, intent)] };
  }
  return { ...path, ...replacement(editor.properties, intent) };
}

function replacement(properties: JsonObject, intent: EditIntent): JsonObject {
  const offer = { name: '', freeform: false, properties };
  return {
    [key(offer, ['old_string', 'oldText', 'old_text', 'old_str'])]: intent.old,
    [key(offer, ['new_string', 'newText', 'new_text', 'new_str'])]: intent.new,
  };
}

function patchCall(tool: ToolOffer, body: readonly string[]): ToolStep {
  const text = ['*** Begin Patch', ...body, '*** End Patch', ''].join('\n');
  return tool.freeform
    ? { tool: tool.name, raw: text }
    : { tool: tool.name, input: { [key(tool, ['input', 'patch', 'patchText'])]: text } };
}

function find(tools: readonly ToolOffer[], names: readonly string[]): ToolOffer | undefined {
  return names.map((name) => tools.find((tool) => tool.name === name)).find((tool) => tool !== undefined);
}

function pathKey(tool: ToolOffer): string {
  return key(tool, ['file_path', 'filePath', 'filepath', 'path']);
}

/** The first of these names that the tool's schema has; the first name when its schema says nothing. */
function key(tool: ToolOffer, names: readonly string[]): string {
  return names.find((name) => name in tool.properties) ?? (names[0] as string);
}

function lines(text: string): string[] {
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function noTool(intent: string, tools: readonly ToolOffer[]): NoSuchTool {
  const offered = tools.map((tool) => tool.name).join(', ');
  return new NoSuchTool(
    `scripted model: no offered tool can ${intent}. Offered: ${offered === '' ? 'none' : offered}. Name a tool with \`tool\` instead.`,
  );
}

/** The smallest value a JSON Schema allows: the answer to a side call that wants structured output. */
export function smallestValue(schema: unknown): unknown {
  if (!isObject(schema)) return null;
  if (Array.isArray(schema['enum'])) return schema['enum'][0];
  const either = asList(schema['anyOf'] ?? schema['oneOf']);
  if (either.length > 0) return smallestValue(either[0]);
  const type = String(Array.isArray(schema['type']) ? schema['type'][0] : schema['type']).toLowerCase();
  if (type === 'object')
    return Object.fromEntries(
      Object.entries(asObject(schema['properties'])).map(([name, inner]) => [name, smallestValue(inner)]),
    );
  const plain: Readonly<Record<string, unknown>> = { array: [], boolean: false, number: 0, integer: 0, null: null };
  return type in plain ? plain[type] : 'scripted';
}
