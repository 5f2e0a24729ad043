// The manual of every command, as a man page and as Markdown: made of the same table as help.
import type { CommandSpec } from './commands/command.ts';
import { commonOptions, nameOf, optionsOf } from './command-line.ts';
import { exits } from './exit.ts';
import { exitsOf, flagOf, summaryOf, usageOf } from './help.ts';

/** The manual of every command as one man page (roff). */
export const manualPage = (table: readonly CommandSpec[], version: string): string => {
  const escape = (text: string): string =>
    text
      .replaceAll('\\', '\\e')
      .replaceAll('-', '\\-')
      .replace(/^([.'])/gm, '\\&$1');
  const term = (left: string, right: string): string => `.TP\n.B ${escape(left)}\n${escape(right)}`;
  const command = (spec: CommandSpec): string =>
    [
      `.SS ${escape(usageOf(spec))}`,
      escape(`${capital(spec.summary)}.${spec.detail === undefined ? '' : ` ${spec.detail}`}`),
      ...(spec.arguments ?? []).map((argument) => term(argument.name.toUpperCase(), argument.summary)),
      ...optionsOf(spec)
        .filter((option) => !commonOptions.includes(option))
        .map((option) => term(flagOf(option), summaryOf(option))),
      ...spec.examples.map(({ line, does }) => `.PP\n${escape(does)}:\n.PP\n.RS 4\n.nf\n${escape(line)}\n.fi\n.RE`),
      `.PP\nExit codes: ${exitsOf(spec)
        .map(({ code }) => code)
        .join(', ')}.`,
    ].join('\n');
  return [
    `.TH ORRERY 1 "" "orrery ${version}" "Orrery"`,
    '.SH NAME\norrery \\- run coding agents in sandboxes and check what they did',
    '.SH SYNOPSIS\n.B orrery\nCOMMAND [options]',
    `.SH COMMANDS\n${table
      .filter((spec) => spec.hidden !== true)
      .map(command)
      .join('\n')}`,
    `.SH OPTIONS OF EVERY COMMAND\n${commonOptions.map((option) => term(flagOf(option), option.summary)).join('\n')}`,
    `.SH EXIT STATUS\n${exits.map(({ code, meaning }) => term(String(code), meaning)).join('\n')}`,
  ].join('\n');
};

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The manual of every command as Markdown. */
export const manualMarkdown = (table: readonly CommandSpec[]): string => {
  const command = (spec: CommandSpec): string =>
    [
      `## orrery ${nameOf(spec)}\n\n${capital(spec.summary)}.${spec.detail === undefined ? '' : ` ${spec.detail}`}`,
      `\`\`\`sh\n${spec.examples.map(({ line, does }) => `${line}  # ${does}`).join('\n')}\n\`\`\``,
      `Usage: \`${usageOf(spec)}\``,
      markdownTable(
        ['option', 'meaning'],
        [
          ...(spec.arguments ?? []).map(({ name, summary }) => [name.toUpperCase(), summary] as const),
          ...optionsOf(spec)
            .filter((option) => !commonOptions.includes(option))
            .map((option) => [flagOf(option), summaryOf(option)] as const),
        ],
      ),
      `Exit codes: ${exitsOf(spec)
        .map(({ code }) => code)
        .join(', ')}.`,
    ]
      .filter((part) => part !== '')
      .join('\n\n');
  return [
    '# The command line',
    'Made from the command table by `orrery help --markdown`.',
    ...table.filter((spec) => spec.hidden !== true).map(command),
    `## Options of every command\n\n${markdownTable(
      ['option', 'meaning'],
      commonOptions.map((option) => [flagOf(option), option.summary] as const),
    )}`,
    `## Exit codes\n\n${markdownTable(
      ['code', 'meaning'],
      exits.map(({ code, meaning }) => [String(code), meaning] as const),
    )}`,
  ].join('\n\n');
};

/** Outside backticks `<name>` would be taken for a tag. */
const asText = (text: string): string => text.replaceAll('<', '&lt;');

const markdownTable = (head: readonly [string, string], rows: readonly (readonly [string, string])[]): string =>
  rows.length === 0
    ? ''
    : [`| ${head.join(' | ')} |`, '|---|---|', ...rows.map(([left, right]) => `| \`${left}\` | ${asText(right)} |`)].join('\n');
