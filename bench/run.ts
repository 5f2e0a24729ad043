// Runs benchmarks by name, all of them when none is named, and prints their ratios.
// `npm run bench -- [NAME…] [--rounds N] [--directory DIR] [--json] [--update] [--list]`

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { backends } from './backends.ts';
import type { Benchmark } from './benchmark.ts';
import { checkouts } from './checkouts.ts';
import { durableEventsBenchmark } from './durable-events.ts';
import { flatMemory } from './flat-memory.ts';
import { idleMemory } from './idle-memory.ts';
import { keeperStart } from './keeper-start.ts';
import { lookAtMachine, type MachineFacts } from './machine.ts';
import { recovery } from './recovery.ts';
import { requestToVerdict } from './request-to-verdict.ts';
import { sessionScale } from './session-scale.ts';
import { spoolThroughput } from './spool-throughput.ts';
import { machineLine, toMarkdown, toText, type Finding } from './table.ts';
import { versionStart } from './version-start.ts';
import { webScale } from './web-scale.ts';

const benchmarks: readonly Benchmark[] = [
  keeperStart,
  requestToVerdict,
  checkouts,
  backends,
  durableEventsBenchmark,
  spoolThroughput,
  idleMemory,
  recovery,
  versionStart,
  flatMemory,
  sessionScale,
  webScale,
];

const results = join(import.meta.dirname, 'RESULTS.md');
/** How long the process may take to end by itself. */
const EXIT_MS = 5_000;
const begin = '<!-- begin: written by npm run bench -- --update -->';
const end = '<!-- end -->';

const options = {
  rounds: { type: 'string' },
  directory: { type: 'string' },
  json: { type: 'boolean' },
  update: { type: 'boolean' },
  list: { type: 'boolean' },
} as const;

const chosen = (names: readonly string[]): readonly Benchmark[] => {
  const unknown = names.filter((name) => !benchmarks.some((benchmark) => benchmark.name === name));
  if (unknown.length > 0)
    throw new Error(`There is no benchmark ${unknown.join(', ')}. There are ${benchmarks.map(({ name }) => name).join(', ')}.`);
  return names.length === 0 ? benchmarks : benchmarks.filter(({ name }) => names.includes(name));
};

const runOne = async (benchmark: Benchmark, place: string, rounds: number | null): Promise<Finding> => {
  const directory = mkdtempSync(join(place, 'b-'));
  try {
    process.stderr.write(`${benchmark.name} …\n`);
    return { benchmark, report: await benchmark.run({ directory, rounds: rounds ?? benchmark.rounds }) };
  } catch (thrown) {
    process.stderr.write(`${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}\n`);
    process.exitCode = 1;
    return { benchmark, failure: thrown instanceof Error ? thrown.message : String(thrown) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** Puts the run between the marks of RESULTS.md; what people wrote around them stays. */
const update = (findings: readonly Finding[], facts: MachineFacts, command: string): void => {
  const text = readFileSync(results, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${results} has lost the marks that the table stands between.`);
  const table = `\nMade by \`${command}\` on ${machineLine(facts)}.\n\n${toMarkdown(findings)}\n`;
  writeFileSync(results, `${text.slice(0, from + begin.length)}\n${table}${text.slice(to)}`);
};

const { values, positionals } = parseArgs({ options, allowPositionals: true });
if (values.list === true) for (const { name, title } of benchmarks) console.log(`${name.padEnd(20)} ${title}`);
else {
  const rounds = values.rounds === undefined ? null : Number(values.rounds);
  if (rounds !== null && (!Number.isSafeInteger(rounds) || rounds < 1)) throw new Error('--rounds takes a whole number from 1.');
  const wanted = chosen(positionals);
  const place = mkdtempSync(join(values.directory ?? tmpdir(), 'orrery-bench-'));
  const facts = lookAtMachine(place);
  const findings: Finding[] = [];
  try {
    for (const benchmark of wanted) findings.push(await runOne(benchmark, place, rounds));
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
  const command = ['npm run bench --', ...process.argv.slice(2)].join(' ');
  if (values.update === true) update(findings, facts, command);
  const plain = findings.map(({ benchmark: { name, title }, ...rest }) => ({ name, title, ...rest }));
  console.log(
    values.json === true
      ? JSON.stringify({ machine: facts, findings: plain }, null, 2)
      : `${machineLine(facts)}\n${toText(findings)}`,
  );
  // What a time limit gave up may wait for something still; nothing more is to be said.
  setTimeout(() => process.exit(), EXIT_MS).unref();
}
