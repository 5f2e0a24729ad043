import type { PolicyFileView, PolicyRuleView } from '@orrery/protocol';
import { inertLine } from '../../inert.ts';
import { tableText, type Screen } from '../../screen.ts';
import { agentProject } from '../agent/list.ts';
import type { Command } from '../command.ts';

/** What a rule is for, in one line. */
export const meantText = ({ match }: Pick<PolicyRuleView, 'match'>): string => {
  const { command, paths, kind, tool, project, harness } = match;
  const parts = [
    ...(command?.exact === undefined ? [] : [command.exact]),
    ...(command?.words === undefined ? [] : [`${command.words.join(' ')} …`]),
    ...(paths?.exact ?? []),
    ...(paths?.below ?? []).map((folder) => `${folder}/…`),
    ...(kind === undefined ? [] : [`kind ${kind}`]),
    ...(tool === undefined ? [] : [`tool ${tool}`]),
    ...(project === undefined ? [] : [`project ${project}`]),
    ...(harness === undefined ? [] : [`harness ${harness}`]),
  ];
  return parts.length === 0 ? 'everything' : parts.map(inertLine).join(', ');
};

/** Files with which something is wrong. */
export const problemLines = (screen: Screen, files: readonly PolicyFileView[]): string[] =>
  files.flatMap(({ problem }) =>
    (problem ?? []).map((line, at) => `${at === 0 ? `${screen.bad('✗')} ` : '  '}${inertLine(line)}`),
  );

/** Rules that mean nothing as it is. */
export const idleLines = (screen: Screen, idle: readonly string[]): string[] =>
  idle.map((line) => `${screen.careful('!')} ${inertLine(line)}`);

/** `orrery policy list`. */
export const policyList: Command = async (context) => {
  const connection = await context.connect();
  const answer = await connection.client.call('policyList', { query: await agentProject(context, connection) });
  const { screen } = context;
  const problems = [...problemLines(screen, answer.files), ...idleLines(screen, answer.idle)];
  const hints = answer.broken ? ['  Until that is mended, everything is asked: no rule and no mode allows anything.'] : [];
  if (answer.items.length === 0)
    return {
      result: answer,
      text: [...problems, `There is no rule${answer.broken ? ' that can be used' : ' yet'}.`].join('\n'),
      hints: answer.broken
        ? hints
        : [
            `  Write one into a file in ${inertLine(answer.folder)}, or take one from what an agent asks: orrery policy propose ID`,
          ],
    };
  const rows = answer.items.map((rule) => [rule.verdict, inertLine(rule.name), meantText(rule), inertLine(rule.file)]);
  return { result: answer, text: [...problems, tableText(screen, ['verdict', 'rule', 'for', 'file'], rows)].join('\n'), hints };
};
