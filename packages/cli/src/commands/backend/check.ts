import type { BackendView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { inertLine } from '../../inert.ts';
import { pick } from '../../names.ts';
import type { Screen } from '../../screen.ts';
import type { Command } from '../command.ts';

const backendText = (screen: Screen, one: BackendView): string => {
  const width = Math.max(0, ...one.guarantees.map(({ guarantee }) => guarantee.length));
  const guarantees = one.guarantees.map(
    ({ guarantee, held, by, missing }) =>
      `${held ? screen.good('✓') : screen.bad('✗')} ${guarantee.padEnd(width)}  ${inertLine(held ? by : (missing ?? 'missing'))}`,
  );
  const cannot = one.cannotStop.map((text) => `${screen.careful('!')} cannot stop: ${inertLine(text)}`);
  return [`${screen.bold(one.name)}  ${inertLine(one.summary)}`, ...guarantees, ...cannot].join('\n');
};

const problemOf = (one: BackendView): OrreryError | null => {
  if (!one.allowed)
    return new OrreryError('backend_forbidden', `The backend ${one.name} is not allowed on this node.`, {
      rule: 'The operator lists what is: execution.allowedBackends.',
      fix: 'orrery config explain execution.allowedBackends',
    });
  if (!one.usable)
    return new OrreryError(
      'guarantee_missing',
      `The backend ${one.name} does not work on this machine: ${inertLine(one.problem ?? 'unknown')}`,
      { fix: one.fix ?? 'orrery doctor' },
    );
  const missing = one.guarantees.filter(({ held }) => !held).map(({ guarantee }) => guarantee);
  return missing.length === 0
    ? null
    : new OrreryError('guarantee_missing', `The backend ${one.name} does not hold: ${missing.join(', ')}.`, {
        rule: 'It is never used as if it did.',
        fix: one.fix ?? 'orrery backend list',
      });
};

/** `orrery backend check`: ends with 10 when something is missing. */
export const backendCheck: Command = async (context) => {
  const { client } = await context.connect();
  const { items } = await client.call('backendList');
  const given = context.input.argument('backend') ?? items.find(({ isDefault }) => isDefault)?.name ?? '';
  const one = pick(items, given, { of: ({ name, aliases }) => [name, ...aliases], noun: 'backend', fix: 'orrery backend list' });
  const error = problemOf(one);
  const text = backendText(context.screen, one);
  if (error === null) return { result: one, text };
  return {
    result: one,
    text,
    hints: error.toLines().map((line) => `  ${line}`),
    failure: {
      error: new OrreryError(error.code, error.message, {
        rule: error.rule ?? undefined,
        fix: error.fix ?? undefined,
        details: { backend: one },
      }),
      exit: 10,
    },
  };
};
