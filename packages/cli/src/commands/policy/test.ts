import { inertLine } from '../../inert.ts';
import { agentProject } from '../agent/list.ts';
import type { Command } from '../command.ts';
import { meantText, problemLines } from './list.ts';

const words = { allow: 'allowed', deny: 'denied', ask: 'asked' } as const;

/** `orrery policy test`. */
export const policyTest: Command = async (context) => {
  const { input, screen } = context;
  const connection = await context.connect();
  const interaction = input.text('interaction');
  const command = input.argument('command');
  const harness = input.text('harness');
  const tool = input.text('tool');
  const paths = input.list('path');
  const answer = await connection.client.call('policyTest', {
    body: {
      ...(interaction === null ? await agentProject(context, connection) : { interaction }),
      ...(command === null ? {} : { command }),
      ...(harness === null ? {} : { harness }),
      ...(tool === null ? {} : { tool }),
      ...(paths.length === 0 ? {} : { paths: [...paths] }),
    },
  });
  const { verdict, rule, text, fits, files } = answer;
  const mark = verdict === 'allow' ? screen.good('✓') : verdict === 'deny' ? screen.bad('✗') : screen.careful('!');
  const said =
    verdict === null ? 'No rule decides.' : `It is ${words[verdict]}${rule === null ? '' : ` by ${inertLine(rule.name)}`}.`;
  const others = fits.filter(({ name, file }) => name !== rule?.name || file !== rule.file);
  return {
    result: answer,
    text: [
      `${mark} ${said}  ${inertLine(text)}`,
      ...(rule === null ? [] : [`  ${inertLine(rule.file)}`]),
      ...others.map((one) => `  ${screen.dim(`also: ${one.verdict} ${inertLine(one.name)} (${meantText(one)})`)}`),
      ...problemLines(screen, files),
    ].join('\n'),
  };
};
