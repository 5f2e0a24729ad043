// `npm test`: every check and suite in order, fast ones first. Options:
//   --only unit,slow   these stages    --bail   stop at the first stage that fails    --list   print the stages
//   --require-all      (set by CI=true) what is skipped is a failure, unless tools/test-stages.ts excuses it
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { installPrograms } from './agent-programs.ts';
import { NEEDS, lacks, probeMachine } from './machine.ts';
import type { Machine } from './machine.ts';
import { filesToRunAgain, mergeReports, unsteady } from './second-run.ts';
import { countNative, countSuite, requiredSkips, skippedText, totalLine } from './test-report.ts';
import type { StageResult, SuiteReport } from './test-report.ts';
import { MAY_SKIP, STAGES } from './test-stages.ts';
import type { Stage } from './test-stages.ts';

type Counts = Pick<StageResult, 'passed' | 'failed' | 'skipped'>;

type Run = { root: string; temp: string; env: NodeJS.ProcessEnv; found: Machine };

const print = (text: string): boolean => process.stdout.write(text);

/**
 * What the stages see: our Node first on PATH, no Git variable of a hook that calls us, nobody's Git configuration,
 * and folders of their own where a node would keep its data, so that no test meets the user's node.
 */
function stageEnvironment(root: string, temp: string, found: Machine): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(GIT_|ORRERY_(?!TEST_))/.test(name));
  const folders = ['data', 'config', 'state', 'cache'].map((name) => [`XDG_${name.toUpperCase()}_HOME`, join(temp, name)]);
  for (const [, folder] of folders) mkdirSync(folder ?? '', { recursive: true });
  return {
    ...Object.fromEntries([...kept, ...folders]),
    PATH: [dirname(process.execPath), join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    ORRERY_TEST_MACHINE: JSON.stringify(found),
  };
}

type Ended = { exitCode: number; output: string };

/** Runs a stage's command in a group of its own; past its time, or when we are asked to stop, the whole group is ended. */
function execute(stage: Stage, args: readonly string[], { root, env }: Run): Promise<Ended> {
  const streams = stage.kind === 'suite' ? 'inherit' : 'pipe';
  const child = spawn(stage.command, args, { cwd: root, env, detached: true, stdio: ['ignore', streams, streams] });
  const kept: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => kept.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => kept.push(chunk));
  const end = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(() => {
    kept.push(Buffer.from(`${stage.name} took longer than ${stage.limitMs / 60_000} minutes and was ended.\n`));
    end();
  }, stage.limitMs);
  process.once('exit', end);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      process.off('exit', end);
      resolve({ exitCode: code ?? 1, output: Buffer.concat(kept).toString('utf8') });
    });
  });
}

async function runStage(stage: Stage, run: Run): Promise<StageResult> {
  const began = performance.now();
  const reasons = [stage.absent(run.root), ...lacks(run.found, stage.needs)].filter((reason) => reason !== undefined);
  if (reasons.length > 0) return { stage, passed: 0, failed: 0, skipped: [], reason: reasons.join('; '), durationMs: 0 };
  const report = join(run.temp, `${stage.name}.json`);
  const reporting = stage.kind === 'suite' ? ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`] : [];
  if (stage.kind !== 'check') print(`… ${stage.name}: ${stage.promise}\n`);
  const { exitCode, output } = await execute(stage, [...stage.args, ...reporting], run);
  if (exitCode !== 0 && output !== '') print(output.endsWith('\n') ? output : `${output}\n`);
  const counted =
    stage.kind === 'suite'
      ? await countWithSecondRun(stage, run, { exitCode, report: readReport(report) })
      : count(output, stage, exitCode);
  return { stage, ...counted, durationMs: performance.now() - began };
}

/** Counts a suite; the few files of it that failed run once more, alone, and what passes only then is said loudly. */
async function countWithSecondRun(
  stage: Stage,
  run: Run,
  first: { exitCode: number; report: SuiteReport | undefined },
): Promise<Counts> {
  const files = filesToRunAgain(first.report);
  if (first.report === undefined || files.length === 0) return countSuite(first.report, { ...first, root: run.root });
  print(`! ${stage.name}: once more, alone: ${files.map((file) => relative(run.root, file)).join(' ')}\n`);
  const report = join(run.temp, `${stage.name}-again.json`);
  const reporting = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const { exitCode } = await execute(stage, [...stage.args, ...files, ...reporting], run);
  const second = readReport(report);
  if (second === undefined) return countSuite(first.report, { ...first, root: run.root });
  const merged = mergeReports(first.report, second);
  for (const line of unsteady(first.report, merged, run.root)) print(`! passed only when it ran again: ${line}\n`);
  return countSuite(merged, { exitCode, root: run.root });
}

function count(output: string, stage: Stage, exitCode: number): Counts {
  if (stage.kind === 'native') return countNative(output, exitCode);
  return { passed: exitCode === 0 ? 1 : 0, failed: exitCode === 0 ? 0 : 1, skipped: [] };
}

function readReport(file: string): SuiteReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as SuiteReport;
  } catch {
    // No report: the runner ended before it wrote one, which countSuite counts as a failure.
    return undefined;
  }
}

function stageLine({ stage, passed, failed, skipped, reason, durationMs }: StageResult): string {
  if (reason !== undefined) return `- ${stage.name.padEnd(11)} not run: ${reason}\n`;
  const mark = failed > 0 ? '✗' : '✓';
  const counts = stage.kind === 'check' ? stage.promise : `${passed} passed, ${failed} failed, ${skipped.length} skipped`;
  return `${mark} ${stage.name.padEnd(11)} ${counts} (${(durationMs / 1000).toFixed(1)} s)\n`;
}

/** The stages asked for, in their order; an unknown name is refused with the list of known ones. */
function chooseStages(only: string | undefined): readonly Stage[] {
  if (only === undefined) return STAGES;
  const names = only.split(',');
  const unknown = names.filter((name) => !STAGES.some((stage) => stage.name === name));
  if (unknown.length === 0) return STAGES.filter((stage) => names.includes(stage.name));
  process.stderr.write(
    `There is no stage ${unknown.join(', ')}.\nKnown stages: ${STAGES.map(({ name }) => name).join(', ')}.\nnpm test -- --only unit\n`,
  );
  return process.exit(2);
}

function machineLine(found: Machine): string {
  const facts = [
    found.git ?? 'no git',
    found.compiler === undefined ? 'no compiler' : `compiler ${found.compiler}`,
    found.root ? 'root' : 'not root',
  ];
  const programs = found.programs.length === 0 ? 'no agent program' : `agents ${found.programs.join(' ')}`;
  const kernel = [
    found.userNamespaces ? 'user namespaces' : 'no user namespaces',
    found.landlock === undefined ? 'Landlock unknown' : `Landlock ABI ${found.landlock}`,
  ];
  return `${found.platform}, Node ${found.node}, ${[...facts, ...kernel, programs].join(', ')}\n`;
}

type Course = { run: Run; bail: boolean; ended: (result: StageResult) => void };

/** Runs the stages one after the other; one that runs beside others is waited for after the last of them that runs. */
async function runAll(stages: readonly Stage[], { run, bail, ended }: Course): Promise<void> {
  const beside: { until: number; result: Promise<StageResult> }[] = [];
  for (const [index, stage] of stages.entries()) {
    const result = runStage(stage, run);
    const until = stages.findIndex(({ name }) => name === stage.beside);
    if (until > index && !bail) {
      beside.push({ until, result });
      continue;
    }
    const due = beside.filter((other) => other.until === index);
    for (const each of await Promise.all([result, ...due.map((other) => other.result)])) {
      ended(each);
      print(stageLine(each));
      if (bail && each.failed > 0) return;
    }
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      bail: { type: 'boolean' },
      list: { type: 'boolean' },
      'require-all': { type: 'boolean' },
    },
  });
  const stages = chooseStages(values.only);
  if (values.list) {
    for (const { name, promise } of stages) print(`${name.padEnd(11)} ${promise}\n`);
    return 0;
  }
  const root = dirname(import.meta.dirname);
  if (stages.some(({ programs }) => programs)) for (const problem of installPrograms()) print(`! ${problem}\n`);
  const found = probeMachine();
  print(machineLine(found));
  const temp = mkdtempSync(join(tmpdir(), 'orrery-test-'));
  const results: StageResult[] = [];
  try {
    const run = { root, temp, found, env: stageEnvironment(root, temp, found) };
    await runAll(stages, { run, bail: values.bail ?? false, ended: (result) => results.push(result) });
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
  return summary(results, { requireAll: values['require-all'] ?? process.env.CI === 'true', found });
}

function summary(results: readonly StageResult[], { requireAll, found }: { requireAll: boolean; found: Machine }): number {
  const missing = requireAll ? requiredSkips(results, MAY_SKIP) : [];
  print(`\n${skippedText(results, lacks(found, NEEDS))}`);
  for (const { file, title } of missing) print(`✗ required here, but not run: ${file}: ${title}\n`);
  const failed = results.filter((result) => result.failed > 0).map(({ stage }) => stage.name);
  if (failed.length > 0) print(`failed: ${failed.join(', ')} (again: npm test -- --only ${failed.join(',')})\n`);
  print(`${totalLine(results, missing.length)}\n`);
  return failed.length + missing.length > 0 ? 1 : 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main();
