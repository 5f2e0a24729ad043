import type { HarnessView } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { tableText } from '../../screen.ts';
import type { Command } from '../command.ts';
import { paidText } from './login.ts';

/** Whether its program can be installed by the node, and is not. */
export const isToInstall = ({ pinnedVersion, installedVersion }: HarnessView): boolean =>
  pinnedVersion !== null && installedVersion === null;

/** `orrery harness list`. */
export const harnessList: Command = async (context) => {
  const { client } = await context.connect();
  const answer = await client.call('harnessList');
  if (answer.items.length === 0)
    return { result: answer, text: 'This node knows no agent program. Look what is wrong: orrery doctor' };
  const rows = answer.items.map((one) => {
    const own = one.verified ? 'your own' : 'unverified';
    const builtIn = one.provenance === 'built-in' ? 'built in' : own;
    const here = one.program === null ? builtIn : (one.installedVersion ?? 'not installed');
    return [
      `${one.installedVersion === null && one.program !== null ? ' ' : context.screen.good('✓')} ${one.id}${one.isDefault ? ' (default)' : ''}`,
      here,
      one.defaultModel ?? '-',
      paidText(one.paidBy),
      inertLine(one.summary),
    ];
  });
  const missing = answer.items.find(isToInstall);
  return {
    result: answer,
    text: tableText(context.screen, ['  harness', 'version', 'model', 'paid by', 'what it is'], rows),
    hints: missing === undefined ? [] : [`  orrery harness install ${missing.id}`],
  };
};
