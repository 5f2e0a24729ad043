import { overOf, ratioOf, type Benchmark, type Report, type Row, type Spread } from './benchmark.ts';
import type { MachineFacts } from './machine.ts';

/** A benchmark with what it found, or why it could not be run. */
export type Finding = { readonly benchmark: Benchmark } & ({ readonly report: Report } | { readonly failure: string });

const number = (value: number): string =>
  Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString('en')
    : value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);

const spread = ({ median, low, high }: Spread): string =>
  low === high ? number(median) : `${number(median)} (${number(low)}–${number(high)})`;

const ratio = (row: Row): string => {
  const over = overOf(row);
  return `${ratioOf(row).toFixed(2)} × (${over < 0 ? '−' : '+'}${number(Math.abs(over))})`;
};

const header = ['what', 'unit', 'Orrery', 'bare', 'against', 'n', 'ratio', 'goal'] as const;

const cells = (row: Row): string[] => [
  row.what,
  row.unit,
  spread(row.ours),
  spread(row.bare),
  row.against,
  String(row.ours.count),
  ratio(row),
  row.goal === null ? '' : `${row.goal.text}: ${row.goal.met ? 'met' : 'missed'}`,
];

/** The facts of the machine in one line. */
export const machineLine = (facts: MachineFacts): string =>
  `${facts.system}, ${facts.processors}, ${facts.memoryGiB} GiB, Node ${facts.node}, as ${facts.user}, ${facts.disk} ` +
  `(a synced 4 KiB write: ${number(facts.syncMs)} ms), load ${facts.load.toFixed(1)} at the begin`;

/** The findings as Markdown. */
export const toMarkdown = (findings: readonly Finding[]): string =>
  findings
    .map((finding) => {
      const title = `### \`${finding.benchmark.name}\` — ${finding.benchmark.title}\n`;
      if ('failure' in finding) return `${title}\nCould not be run: ${finding.failure}\n`;
      const { rows, notes } = finding.report;
      const lines = [header, header.map(() => '---'), ...rows.map(cells)].map(
        (line) => `| ${line.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`,
      );
      return `${title}\n${lines.join('\n')}\n${notes.length === 0 ? '' : `\n${notes.map((note) => `- ${note}`).join('\n')}\n`}`;
    })
    .join('\n');

/** The findings for a terminal. */
export const toText = (findings: readonly Finding[]): string => {
  const lines = findings.flatMap((finding) => ('report' in finding ? finding.report.rows.map(cells) : []));
  const widths = header.map((title, index) => Math.max(title.length, ...lines.map((line) => line[index]?.length ?? 0)));
  const line = (parts: readonly string[]): string =>
    parts
      .map((part, index) => part.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return findings
    .map((finding) => {
      const title = `\n${finding.benchmark.name}: ${finding.benchmark.title}`;
      if ('failure' in finding) return `${title}\n  could not be run: ${finding.failure}`;
      const { rows, notes } = finding.report;
      return [title, line(header), ...rows.map((row) => line(cells(row))), ...notes.map((note) => `  ${note}`)].join('\n');
    })
    .join('\n');
};
