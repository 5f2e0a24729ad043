// A place in which sessions talk to a program that a test speaks for, with the real store, conductor and dialogue.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionCreate } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import { insertNamed } from '../src/environment/named-store.ts';
import type { Environment, Handle, RunEnd } from '../src/exec/backend.ts';
import { createInteractions, type Interactions } from '../src/interaction/index.ts';
import type { Clock } from '../src/kernel/clock.ts';
import type { Policies } from '../src/policy/index.ts';
import { createSessionsConductor, type SessionsConductor } from '../src/run/sessions/index.ts';
import { attachmentBytes, createLiveTexts, goOnIn, type Sessions } from '../src/session/index.ts';
import { startInlineWriter } from '../src/store/sqlite/inline-writer.ts';
import { openStore } from '../src/store/sqlite/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { createTalkingClock } from './talking-clock.ts';
import { createFakeMachine, createLife } from './fake-machine.ts';
import { runParts } from './run-parts.ts';
import { harnessOf } from './talking-harness.ts';
import { ENVIRONMENT, environmentRow } from './talking-environment.ts';
import { asks, sessionsOf } from './talking-neighbours.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {}, with: () => silent };

/** A program of a session. The test says what it says. */
export type Talker = {
  readonly runId: string;
  /** Lines that it was given, parsed. */
  readonly heard: { readonly [key: string]: unknown }[];
  /** It reads nothing from now on. */
  deaf: boolean;
  say(...frames: object[]): void;
  /** What it says beside its dialogue. */
  complain(text: string): void;
  end(exitCode: number, signal?: string): void;
  readonly ended: boolean;
  /** Bytes that it said. */
  readonly said: number;
};

type Views = { readonly talker: Talker; view(): Handle };

const endOf = (exitCode: number | null, signal: string | null): RunEnd => ({
  ...{ exitCode, signal, limit: null, reason: null, tookMs: 1, userMs: 0, systemMs: 0, maxRssBytes: 0 },
  ...{ stdoutBytes: 0, stderrBytes: 0 },
});

/** A program that reads and is asked to end by the end of its input, and otherwise does nothing by itself. */
const createTalker = (runId: string, hear: (talker: Talker, frame: { readonly [key: string]: unknown }) => void): Views => {
  const bytes = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  let end: RunEnd | null = null;
  let changed = Promise.withResolvers<void>();
  const written = new Set<string>();
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const finish = (how: RunEnd): void => {
    end ??= how;
    tell();
  };
  const over = async (): Promise<RunEnd> => {
    while (end === null) await changed.promise;
    return end;
  };
  const talker: Talker = {
    runId,
    heard: [],
    deaf: false,
    say: (...frames) => {
      bytes.stdout = Buffer.concat([bytes.stdout, ...frames.map((frame) => Buffer.from(`${JSON.stringify(frame)}\n`))]);
      tell();
    },
    complain: (text) => {
      bytes.stderr = Buffer.concat([bytes.stderr, Buffer.from(text)]);
      tell();
    },
    end: (exitCode, signal) => finish(endOf(signal === undefined ? exitCode : null, signal ?? null)),
    get said() {
      return bytes.stdout.length;
    },
    get ended() {
      return end !== null;
    },
  };
  const write = async (id: string, text: Uint8Array) => {
    if (end !== null) throw new OrreryError('unsupported', 'The program takes no input.');
    if (talker.deaf) {
      await over();
      return { state: 'unwritten' } as const;
    }
    if (written.has(id)) return { state: 'written' } as const;
    written.add(id);
    const frame = JSON.parse(Buffer.from(text).toString()) as Talker['heard'][number];
    talker.heard.push(frame);
    hear(talker, frame);
    return { state: 'written' } as const;
  };
  const view = (): Handle => {
    const dropped = Promise.withResolvers<never>();
    dropped.promise.catch(() => undefined);
    const output = async function* (stream: 'stdout' | 'stderr', from: number) {
      for (let at = from; ;) {
        const next = changed.promise;
        if (at < bytes[stream].length) {
          const piece = bytes[stream].subarray(at);
          yield { offset: at, bytes: piece };
          at += piece.length;
        } else if (end === null) await Promise.race([next, dropped.promise]);
        else return;
      }
    };
    return {
      ...{ id: runId, identity: { containerId: runId }, output, write },
      go: async () => undefined,
      closeInput: async () => {
        // The end of the input comes behind what was not read yet.
        if (talker.deaf) await over();
        else finish(endOf(0, null));
      },
      inputState: async (id) => ({ state: written.has(id) ? 'written' : 'unwritten' }),
      resize: async () => undefined,
      wait: () => Promise.race([over(), dropped.promise]),
      tryWait: async () => end,
      terminate: async () => finish(endOf(null, 'SIGTERM')),
      kill: async () => finish(endOf(null, 'SIGKILL')),
      release: async () => undefined,
      finish: async () => undefined,
      detach: () => dropped.reject(new OrreryError('keeper_lost', 'This view was dropped.')),
    };
  };
  return { talker, view };
};

/** Answers the first question of every program: it is ready. */
const ready = (talker: Talker, frame: { readonly [key: string]: unknown }): void => {
  if (frame['request_id'] !== 'initialize') return;
  talker.say({ type: 'control_response', response: { subtype: 'success', request_id: 'initialize', response: {} } });
};

/** One start of the node. */
export type TalkingNode = {
  readonly sessions: Sessions;
  readonly interactions: Interactions;
  readonly talking: SessionsConductor;
};

export type TalkingPlace = {
  readonly store: Store;
  readonly talkers: Talker[];
  readonly clock: Clock;
  /** The clock of the node goes on by so much. */
  pass(ms: number): void;
  /** What the environment waits for before it is open. */
  gate: Promise<void>;
  /** Programs that are started now say nothing by themselves. */
  mute: boolean;
  /** The model that is asked for titles. */
  titleModel: string | null;
  /** What the policies say of what is asked; the stamp is another one whenever their files are others. */
  policies: Awaited<ReturnType<Policies['inForce']>>;
  policyStamp: string;
  /** What a model that the node asks answers. */
  answer: (text: string) => Promise<string>;
  /** What becomes of words for a turn that runs: `refused` by the program's own answer, before or after it counted them as late. */
  steers: 'taken' | 'refused' | 'refused-late';
  /** Whether the program can go on with one conversation twice. */
  forks: boolean;
  /** Brings here what was done where its programs run. */
  carry: () => Promise<void>;
  /** Files that were written into the home, by path. */
  readonly homeFiles: Map<string, string>;
  /** The home of the environment on this machine. */
  readonly home: string;
  /** How long after its beginning a conversation cannot be taken up again, ms. */
  restMs: number;
  /** `paused`: what the conductor of this start waits for before each transaction. */
  start(paused?: () => Promise<void>): Promise<TalkingNode>;
  /** What a client asks for. */
  asked(more?: Partial<SessionCreate>): SessionCreate;
  environment(change: object): Promise<void>;
  close(): Promise<void>;
};

/** How long questions wait here. */
export const INTERACTION_MS = 24 * 3_600_000;

const environmentOf = (
  place: Pick<TalkingPlace, 'mute' | 'talkers' | 'homeFiles' | 'carry'>,
  programs: Map<string, Views>,
): Environment => {
  const unused = (): never => {
    throw new Error('not in these tests');
  };
  return {
    ...{ id: ENVIRONMENT, backend: 'fake', guarantees: [], brokerEndpoint: 'http://127.0.0.1:7777', freshEnvironment: true },
    ...{ carriesAgentState: true, workdir: '/place', home: '/own', scratchpad: '/scratch' },
    start: async ({ runId }) => {
      const made = createTalker(runId, place.mute ? () => undefined : ready);
      programs.set(runId, made);
      place.talkers.push(made.talker);
      return made.view();
    },
    reattach: async (runId) => programs.get(runId)?.view() ?? null,
    provide: async (name) => `/provided/${name}`,
    describe: ({ command }) => command,
    writeHomeFile: async (path, content) => void place.homeFiles.set(path, Buffer.from(content).toString()),
    stats: async () => ({ processes: 0, memoryBytes: 0, diskBytes: 0 }),
    sync: () => place.carry(),
    close: async () => ({ lost: null }),
    ...{ startScript: unused, describeScript: unused, forward: unused },
  };
};

/** Makes a place with one environment that is ready. */
export const createTalkingPlace = async (): Promise<TalkingPlace> => {
  const directory = await mkdtemp(join(tmpdir(), 'orrery-talking-'));
  const { clock, pass } = createTalkingClock();
  const store = await openStore({ file: join(directory, 'orrery.db'), clock, log: silent, startWriter: startInlineWriter });
  await store.transaction((tx) => insertNamed(tx, environmentRow));
  const secrets = join(directory, 'environments', ENVIRONMENT, 'private');
  await mkdir(secrets, { recursive: true });
  await writeFile(join(secrets, 'egress-token'), 'egress');
  const talkers: Talker[] = [];
  const programs = new Map<string, Views>();
  const nodes: TalkingNode[] = [];
  const place: TalkingPlace = {
    ...{ store, talkers, clock, pass },
    gate: Promise.resolve(),
    mute: false,
    titleModel: null,
    answer: async () => 'nothing',
    ...{ policies: () => null, policyStamp: 'none' },
    forks: true,
    ...{ carry: async () => undefined, homeFiles: new Map(), restMs: 0, steers: 'taken' },
    home: join(directory, 'environments', ENVIRONMENT, 'home'),
    asked: (more = {}) => ({ environment: 'place', mode: 'ask', unattended: 'wait', ...more }),
    environment: (change) =>
      store.transaction(async (tx) => void (await tx.db.updateTable('named_environment').set(change).execute())),
    start: async (paused) => {
      const generation = `run_${nodes.length + 1}`;
      const node = await startNode(place, { directory, generation, paused, environment: environmentOf(place, programs) });
      nodes.push(node);
      return node;
    },
    close: async () => {
      for (const { talking } of nodes) await talking.detach();
      await store.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return place;
};

/** A store of which the conductor waits before each transaction. */
const pausing = (store: Store, paused: (() => Promise<void>) | undefined): Store =>
  paused === undefined ? store : { ...store, transaction: (job) => paused().then(() => store.transaction(job)) };

const startNode = async (
  place: TalkingPlace,
  given: {
    readonly directory: string;
    readonly environment: Environment;
    readonly generation: string;
    readonly paused: (() => Promise<void>) | undefined;
  },
): Promise<TalkingNode> => {
  const { store, clock } = place;
  const { directory, environment, generation, paused } = given;
  const machine = createFakeMachine(() => ({ stdout: '', exitCode: 0 }));
  const harness = harnessOf(place);
  const { parts } = await runParts({ store, directory, machine, life: createLife(), harness, generation });
  const interactions = createInteractions({
    ...{ store, clock },
    sessionNames: async () => new Map(),
    goOn: (tx, id, mode) => goOnIn(tx, id, { mode, nowMs: clock.nowMs() }),
    wake: (id) => talking.wake(id),
  });
  const talking: SessionsConductor = createSessionsConductor({
    ...{
      ...parts,
      ...asks(place),
      clock,
      interactions,
      liveTexts: createLiveTexts({ store, clock }),
      store: pausing(store, paused),
    },
    attachmentBytes: (id) => attachmentBytes(join(directory, 'attachments'), id),
    sessions: { idleMs: 3_600_000_000, interactionMs: () => INTERACTION_MS, titleModel: () => place.titleModel },
    environments: {
      begin: () => undefined,
      settled: async () => undefined,
      open: () => place.gate.then(() => environment),
    },
  });
  const sessions = sessionsOf(place, { directory, harness, ids: parts.ids, conductor: () => talking });
  return { sessions, interactions, talking };
};
