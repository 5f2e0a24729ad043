import { inertLine } from '../../inert.ts';
import { pick } from '../../names.ts';
import { factsText } from '../../screen.ts';
import type { Command } from '../command.ts';
import { isToInstall } from './list.ts';
import { paidText } from './login.ts';

/** When a tool call of a conversation can be decided. */
const gates = {
  before: 'each tool call can be decided before it happens',
  after: 'a tool call is known when it has happened',
  none: 'no tool call can be decided',
} as const;

/** `orrery harness show`. */
export const harnessShow: Command = async (context) => {
  const { client } = await context.connect();
  const { items } = await client.call('harnessList');
  const one = pick(items, context.input.argument('harness') ?? '', {
    of: ({ id }) => [id],
    noun: 'harness',
    fix: 'orrery harness list',
  });
  const capabilities = Object.entries(one.capabilities).map(
    ([name, value]) =>
      [name, Array.isArray(value) ? value.join(', ') : typeof value === 'boolean' ? (value ? 'yes' : 'no') : value] as const,
  );
  const text = factsText(context.screen, [
    ['harness', `${one.id}${one.isDefault ? ' (default)' : ''}`],
    ['what it is', inertLine(one.summary)],
    ['from', one.provenance],
    ['verified', one.verified ? 'yes' : 'no: no turn of it ended well on this node yet'],
    ['program', one.program ?? (one.provenance === 'built-in' ? 'built in' : 'your own')],
    ['installed', one.program === null ? null : (one.installedVersion ?? 'no')],
    ['pinned', one.pinnedVersion],
    ['model', one.defaultModel],
    ['paid by', paidText(one.paidBy)],
    ...capabilities,
    ['tool gate', one.toolGate === null ? null : gates[one.toolGate]],
    ...one.missing.map(({ what, why }) => [`no ${what}`, inertLine(why)] as const),
  ]);
  return {
    result: one,
    text,
    hints: isToInstall(one) ? [`  orrery harness install ${one.id}`] : [],
  };
};
