import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createBench, type Bench, type Printed, type Wish } from './fake-world.ts';
import { scenarios } from './scenarios.ts';
import { readTranscript, shellWords, stepText, type Step } from './transcript.ts';

const folder = join(import.meta.dirname, 'transcripts');

/** What differs from machine to machine. */
const steady = (bench: Bench, printed: Printed): Printed => {
  const clean = (text: string): string =>
    text
      .replaceAll(bench.node.url, 'http://127.0.0.1:4747')
      .replaceAll(bench.folder, '/home/ann')
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n');
  return { ...printed, stdout: clean(printed.stdout), stderr: clean(printed.stderr) };
};

const settingOf = (settings: readonly string[], name: string): string | undefined =>
  settings.find((line) => line.startsWith(`${name} `) || line === name)?.slice(name.length + 1);

const wishOf = ({ settings }: Step): Wish => {
  const stdin = settingOf(settings, 'stdin');
  const typed = settingOf(settings, 'typed');
  const columns = settingOf(settings, 'columns');
  const env = settings.filter((line) => line.startsWith('env ')).map((line) => line.slice(4).split('='));
  return {
    ...(stdin === undefined ? {} : { stdin }),
    ...(typed === undefined ? {} : { typed: typed.split(', ') }),
    ...(columns === undefined ? {} : { columns: Number(columns) }),
    terminal: settings.includes('terminal'),
    env: Object.fromEntries(env),
  };
};

const play = async (step: Step, bench: Bench): Promise<Printed> => {
  const scenario = settingOf(step.settings, 'scenario');
  if (scenario !== undefined) (scenarios[scenario] ?? missing(scenario))(bench);
  return steady(bench, await bench.run(shellWords(step.command.replace(/^orrery ?/, '')), wishOf(step)));
};

const missing = (name: string): never => {
  throw new Error(`There is no scenario ${name}.`);
};

describe('transcripts', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));
  it('are there', () => expect(files.length).toBeGreaterThan(5));

  it.each(files)('%s is what a person sees', async (name) => {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    const { steps, remarks } = readTranscript(text);
    const bench = await createBench();
    try {
      const played: string[] = [];
      for (const [place, step] of steps.entries()) played.push(stepText(step, remarks[place] ?? [], await play(step, bench)));
      const now = played.join('\n');
      if (process.env['UPDATE_TRANSCRIPTS'] === '1') writeFileSync(path, now);
      else expect(now).toBe(text);
    } finally {
      await bench.close();
    }
  });
});
