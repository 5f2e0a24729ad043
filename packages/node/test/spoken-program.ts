// A pinned program, started as its adapter says and spoken with through its dialogue, against a scripted model. Everything
// that happens between the two is kept in its order, so that it can be played again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { ConversationBody } from '@orrery/protocol';
import { start as startModel, type ScriptedModel } from '@orrery/scripted-model';
import type { DialogueStart, DialogueStep, SessionCommand, SessionFact } from '../src/harness/dialogue.ts';
import type { Harness, InstalledProgram, SessionContext } from '../src/harness/harness.ts';
import { adapterOf } from './dialogue-script.ts';

const root = resolve(import.meta.dirname, '../../..');
const programs = process.env['ORRERY_TEST_PROGRAMS'] ?? join(root, '.tools/programs');
const WAIT_MS = 120_000;

/** Where the pinned program is; null: it is not installed. */
export const pinnedProgram = ({ id, pin }: Harness): InstalledProgram | null => {
  const executable = pin?.executable[`${process.platform}-${process.arch}`];
  if (pin === null || executable === undefined) return null;
  const directory = [join(programs, id, pin.version), join(programs, id)].find((folder) => existsSync(join(folder, executable)));
  if (directory === undefined) return null;
  return { directory, executable: join(directory, executable), version: pin.version, node: process.execPath };
};

/** One thing that happened. `hear`: a line of the program, as it was. */
export type Happened =
  | { readonly begin: DialogueStart }
  | { readonly hear: string }
  | { readonly tell: SessionCommand }
  | { readonly end: { readonly exitCode: number | null; readonly signal: string | null } };

export type SpokenPlace = {
  readonly root: string;
  readonly work: string;
  readonly home: string;
  readonly model: ScriptedModel;
  close(): Promise<void>;
};

/** A home, a checkout and a model. */
export const openSpokenPlace = async (script: unknown = []): Promise<SpokenPlace> => {
  const model = await startModel({ script });
  const folder = mkdtempSync(join(tmpdir(), 'orrery-agent-'));
  const place = { root: folder, work: join(folder, 'work'), home: join(folder, 'home'), model };
  for (const name of ['work', 'home', 'tmp']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'token'), 'made-up-run-token', { mode: 0o600 });
  return {
    ...place,
    close: async () => {
      await model.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

/** A process that is spoken with. */
export type SpokenProgram = {
  readonly happened: readonly Happened[];
  readonly stderr: () => string;
  tell(command: SessionCommand): void;
  /** Waits for the next fact that fits, beginning after the last one that was waited for. */
  fact<Kind extends SessionFact['kind']>(kind: Kind): Promise<Extract<SessionFact, { kind: Kind }>>;
  /** Waits until something fits what came since the last prompt. */
  since(what: string, fits: (step: DialogueStep) => boolean): Promise<void>;
  events(): readonly ConversationBody[];
  /** Ends the process as the node does; false: it had to be killed. */
  close(): Promise<boolean>;
};

const contextIn = (place: SpokenPlace, program: InstalledProgram, more: Partial<SessionContext>): SessionContext => ({
  ...{ program, workdir: place.work, home: place.home, scratchpad: join(place.root, 'tmp'), brokerEndpoint: place.model.url },
  ...{ tokenFile: join(place.root, 'token'), conversation: null, branch: null, model: null, effort: null },
  ...{ systemPrompt: null, mode: 'ask' as const, asRoot: process.getuid?.() === 0 },
  ...more,
});

/** Starts it with nothing of this process's environment. */
const launched = (harness: Harness, place: SpokenPlace, context: SessionContext) => {
  const launch = adapterOf(harness).launch(context);
  for (const [path, content] of Object.entries(launch.homeFiles)) {
    mkdirSync(dirname(join(place.home, path)), { recursive: true });
    writeFileSync(join(place.home, path), content, { mode: 0o600 });
  }
  const own = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: place.home,
    TMPDIR: context.scratchpad,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
  };
  return spawn(launch.command, launch.args, { cwd: place.work, env: { ...own, ...launch.env }, detached: true });
};

/** Starts a program in a place. @throws when it is not installed */
export const speakWith = (harness: Harness, place: SpokenPlace, more: Partial<SessionContext> = {}): SpokenProgram => {
  const program = pinnedProgram(harness);
  if (program === null) throw new Error(`${harness.id} is not installed below ${programs}`);
  const context = contextIn(place, program, more);
  const child = launched(harness, place, context);
  const closed = once(child, 'close') as Promise<[number | null, string | null]>;
  const dialogue = adapterOf(harness).dialogue({ offset: 0, state: null });
  const happened: Happened[] = [];
  const steps: DialogueStep[] = [];
  const facts: SessionFact[] = [];
  const waiting = new Set<() => void>();
  let [stderr, rest, seen, told] = ['', Buffer.alloc(0), 0, 0];

  const take = (step: DialogueStep): void => {
    steps.push(step);
    facts.push(...step.facts);
    for (const { text } of step.frames) child.stdin.write(text);
    for (const look of waiting) look();
  };
  const until = <Value>(what: string, find: () => Value | null): Promise<Value> =>
    new Promise((done, failed) => {
      const late = setTimeout(() => {
        waiting.delete(look);
        failed(new Error(`${harness.id}: no ${what}; it said ${JSON.stringify(happened.slice(-5))} ${stderr.slice(-2_000)}`));
      }, WAIT_MS);
      const look = (): void => {
        const found = find();
        if (found === null) return;
        clearTimeout(late);
        waiting.delete(look);
        done(found);
      };
      waiting.add(look);
      look();
    });

  child.stdin.on('error', () => undefined);
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  child.stdout.on('data', (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10)) {
      const line = rest.subarray(0, at + 1);
      rest = rest.subarray(at + 1);
      happened.push({ hear: line.toString('utf8').slice(0, -1) });
      for (const step of dialogue.push(line)) take(step);
    }
  });
  const { conversation, branch, model, effort, mode, workdir } = context;
  const begin: DialogueStart = { conversation, branch, workdir, model, effort, mode };
  happened.push({ begin });
  take(dialogue.begin(begin));

  return {
    happened,
    stderr: () => stderr,
    tell: (command) => {
      happened.push({ tell: command });
      if (command.kind === 'prompt') told = steps.length;
      take(dialogue.tell(command));
    },
    fact: (kind) =>
      until(kind, () => {
        const at = facts.findIndex((fact, index) => index >= seen && fact.kind === kind);
        if (at === -1) return null;
        seen = at + 1;
        return facts[at] as Extract<SessionFact, { kind: typeof kind }>;
      }),
    since: (what, fits) => until(what, () => (steps.slice(told).some(fits) ? true : null)).then(() => undefined),
    events: () => steps.flatMap(({ events }) => events),
    close: async () => {
      child.stdin.end();
      const late = setTimeout(() => child.kill('SIGTERM'), 2_000);
      const dead = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), 8_000);
      const [exitCode, signal] = await closed;
      clearTimeout(late);
      clearTimeout(dead);
      happened.push({ end: { exitCode, signal } });
      return signal !== 'SIGKILL';
    },
  };
};
