// Commands of the composer: our own, and those that the program reported. One that nobody has is refused, never sent as
// words. Pure.

import type { BodyOf, ReportedCatalogue } from '@orrery/protocol';
import { visible } from '../review/inert.ts';

export type Slash = { readonly name: string; readonly takes: string; readonly about: string };

type Turn = Pick<BodyOf<'turnAdd'>, 'text' | 'action' | 'command'> & { readonly kind: 'prompt' | 'steer' };

/** What a text asks for. */
export type Meant =
  | { readonly kind: 'say'; readonly turn: Turn }
  | { readonly kind: 'set'; readonly set: BodyOf<'sessionSet'> }
  | { readonly kind: 'run'; readonly command: 'stop' | 'checkpoints' | 'changes' }
  | { readonly kind: 'refused'; readonly why: string };

const modes = ['ask', 'edits', 'all', 'plan'] as const;

const OWN: readonly Slash[] = [
  { name: 'compact', takes: '[WORDS]', about: 'let it sum up what was said, and keep what you name' },
  { name: 'mode', takes: modes.join('|'), about: 'what it does without asking' },
  { name: 'model', takes: 'MODEL', about: 'which model it works with' },
  { name: 'effort', takes: 'LEVEL', about: 'how much it thinks' },
  { name: 'steer', takes: 'TEXT', about: 'words into the turn that runs' },
  { name: 'stop', takes: '', about: 'stop the turn that runs' },
  { name: 'diff', takes: '', about: 'what it changed so far' },
  { name: 'rewind', takes: '', about: 'files and conversation as they were before a turn' },
  { name: 'rename', takes: 'NAME', about: 'another name for this session' },
];

/** Our commands and the program's own. One of its that is called like ours is reached with two slashes. */
export const slashes = (catalogue: Pick<ReportedCatalogue, 'commands'> | undefined): readonly Slash[] => [
  ...OWN,
  ...(catalogue?.commands ?? [])
    .filter(({ name }) => /^\S+$/.test(name) && visible(name) === name)
    .map(({ name, description }) => ({
      name: OWN.some((one) => one.name === name) ? `/${name}` : name,
      takes: '',
      about: visible(description).replace(/\s+/g, ' ').trim(),
    })),
];

/** Those that could be meant by a text that begins like a command. */
export const matching = (text: string, all: readonly Slash[]): readonly Slash[] => {
  const [, name] = /^\/(\S*)$/.exec(text) ?? [];
  if (name === undefined) return [];
  const words = name.toLowerCase();
  const begin = all.filter((one) => one.name.toLowerCase().startsWith(words));
  const within = all.filter((one) => !begin.includes(one) && `${one.name} ${one.about}`.toLowerCase().includes(words));
  return [...begin, ...within];
};

/** What a text means. A space before a slash makes it words. */
export const meaningOf = (text: string, all: readonly Slash[], kind: 'prompt' | 'steer' = 'prompt'): Meant => {
  const [, name, rest = ''] = /^\/(\S*)\s*([^]*)$/.exec(text) ?? [];
  if (name === undefined) return { kind: 'say', turn: { text, kind } };
  const said = rest.trim();
  if (OWN.some((one) => one.name === name)) return ownMeaning(name, said);
  if (!all.some((one) => one.name === name))
    return { kind: 'refused', why: `There is no command /${name.slice(0, 40)}. A space before it sends it as words.` };
  return { kind: 'say', turn: { text: said, kind: 'prompt', action: 'command', command: name.replace(/^\//, '') } };
};

const ownMeaning = (name: string, said: string): Meant => {
  const needs: Meant = { kind: 'refused', why: `/${name} ${OWN.find((one) => one.name === name)?.takes ?? ''}` };
  switch (name) {
    case 'compact':
      return { kind: 'say', turn: { text: said, kind: 'prompt', action: 'compact' } };
    case 'stop':
      return { kind: 'run', command: 'stop' };
    case 'diff':
      return { kind: 'run', command: 'changes' };
    case 'rewind':
      return { kind: 'run', command: 'checkpoints' };
    case 'mode': {
      const mode = modes.find((one) => one === said);
      return mode === undefined ? needs : { kind: 'set', set: { mode } };
    }
    case 'steer':
      return said === '' ? needs : { kind: 'say', turn: { text: said, kind: 'steer' } };
    default:
      return said === '' ? needs : { kind: 'set', set: { [name === 'rename' ? 'name' : name]: said } };
  }
};
