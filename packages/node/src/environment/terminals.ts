import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OperationCall, TerminalView } from '@orrery/protocol';
import { OrreryError } from '@orrery/protocol/errors';
import type { Handle, RunEnd, RunSpec } from '../exec/backend.ts';
import { proxyEnvironment, proxySecretNames } from '../exec/proxy-environment.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import { errorFields, type Log } from '../kernel/log.ts';
import type { Store } from '../store/store.ts';
import type { OpenPlace, OpenPlaces } from './open-places.ts';
import { findRunById, insertRun, runsOfStage, updateRun, type RunRow } from './store.ts';
import { screenFile } from './screen-file.ts';
import { screenFileOf, type Screens } from './screens.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { generationOf, terminalView } from './terminal-view.ts';

/** Programs that people run in one environment at once. */
const RUNNING_PER_ENVIRONMENT = 32;
/** The stage under which they are recorded: they belong to no attempt. */
const STAGE = 'terminal';

/** What is recorded of one beside its run. */
type Recorded = { readonly command: readonly string[]; readonly tty: boolean };
type Asked = OperationCall<'terminalOpen'>['body'];

/** Shells and commands that people start in environments. */
export type Terminals = {
  open(reference: string, asked: Asked): Promise<TerminalView>;
  list(reference: string): Promise<readonly TerminalView[]>;
  /** The program itself. @throws OrreryError not_found */
  find(reference: string, id: string): Promise<Terminal>;
  end(reference: string, id: string, how: { readonly kill: boolean }): Promise<TerminalView>;
  /** Lets go of all; programs go on. */
  detach(): void;
};

export type TerminalsParts = {
  readonly store: Store;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly ids: Ids;
  readonly log: Log;
  readonly places: OpenPlaces;
  /** The full screens of agent programs: looked at in the same way. */
  readonly screens: Screens;
  readonly environmentsDirectory: string;
};

/** Makes it. */
export const createTerminals = (parts: TerminalsParts): Terminals => {
  const { store, clock, ids, log, places } = parts;
  const live = new Map<string, Terminal>();

  const ended = (id: string, end: RunEnd): void => {
    store
      .transaction((tx) => updateRun(tx.db, id, { state: 'ended', end: JSON.stringify(end), ended_at: clock.nowMs() }))
      .catch((thrown: unknown) => log.warn('terminal.end.unwritten', errorFields(thrown)));
  };
  const hub = async (
    row: RunRow,
    handle: Handle,
    size: { readonly columns: number; readonly rows: number },
  ): Promise<Terminal> => {
    const terminal = await openTerminal({
      id: row.id,
      handle,
      size: { columns: size.columns, rows: size.rows },
      tty: recordedOf(row).tty,
      generation: generationOf(row.started_at),
      file: screenFile(screenFileOf(join(parts.environmentsDirectory, row.environment_id), row.id)),
      screens: parts.screens.thread,
      onEnd: (end) => ended(row.id, end),
    });
    live.set(row.id, terminal);
    return terminal;
  };
  const opening = new Map<string, Promise<Terminal | null>>();

  const view = (row: RunRow): TerminalView => {
    const terminal = live.get(row.id);
    const end = terminal?.ended() ?? (row.end === null ? null : (JSON.parse(row.end) as RunEnd));
    return terminalView({
      id: row.id,
      environmentId: row.environment_id,
      ...recordedOf(row),
      end,
      lost: row.state === 'lost',
      viewers: terminal?.viewers ?? 0,
      startedAtMs: row.started_at,
    });
  };

  const rowOf = async ({ environmentId }: OpenPlace, id: string): Promise<RunRow> => {
    const row = await findRunById(store.read, id);
    if (row !== null && row.environment_id === environmentId && row.stage === STAGE) return row;
    throw new OrreryError('not_found', `There is no terminal ${id.slice(0, 200)} in this environment.`, {
      rule: 'A shell or a command is named by its whole id, while its environment is open.',
      fix: 'orrery env logs ENV',
    });
  };

  /** A program that an earlier start of the node began is looked for in its environment. */
  const lookFor = async (place: OpenPlace, row: RunRow): Promise<Terminal | null> => {
    const handle = await place.environment.reattach(row.id);
    if (handle !== null) return hub(row, handle, { columns: 80, rows: 24 });
    if (row.state !== 'ended')
      await store.transaction((tx) => updateRun(tx.db, row.id, { state: 'lost', ended_at: clock.nowMs() }));
    return null;
  };
  const terminalOf = async (place: OpenPlace, row: RunRow): Promise<Terminal | null> => {
    const known = live.get(row.id);
    if (known !== undefined) return known;
    // Several come back at once after a restart: each terminal is opened by the first of them.
    const begun = opening.get(row.id) ?? lookFor(place, row).finally(() => opening.delete(row.id));
    opening.set(row.id, begun);
    return begun;
  };

  return {
    async open(reference, asked) {
      const place = await places.find(reference);
      const running = (await runsOfStage(store.read, place.environmentId, STAGE)).filter(({ ended_at }) => ended_at === null);
      if (running.length >= RUNNING_PER_ENVIRONMENT) throw tooMany(place.environmentId);
      const id = `${STAGE}.1.${ids('run')}`;
      const spec = await runSpec(parts, place, { asked, id });
      const row = newRow({ id, place, spec, asked, nowMs: clock.nowMs() });
      await store.transaction((tx) => insertRun(tx.db, row));
      const handle = await place.environment.start(spec);
      const terminal = await hub(row, handle, asked);
      await store.transaction((tx) => updateRun(tx.db, id, { identity: JSON.stringify(handle.identity), state: 'running' }));
      await terminal.handle.go();
      return view({ ...row, state: 'running' });
    },
    async list(reference) {
      const place = await places.find(reference);
      const rows = await runsOfStage(store.read, place.environmentId, STAGE);
      for (const row of rows) if (row.ended_at === null) await terminalOf(place, row);
      const runs = await runsOfStage(store.read, place.environmentId, STAGE);
      return [...parts.screens.list(place.environmentId), ...runs.map(view)];
    },
    async find(reference, id) {
      const screen = parts.screens.find(id);
      if (screen !== null) return screen;
      const place = await places.find(reference);
      const terminal = await terminalOf(place, await rowOf(place, id));
      if (terminal !== null) return terminal;
      throw new OrreryError('not_found', `Nothing is left of the terminal ${id.slice(0, 200)}.`, {
        rule: 'What a program printed is kept while its environment is open.',
      });
    },
    async end(reference, id, { kill }) {
      const screen = parts.screens.find(id);
      if (screen !== null) {
        await (kill ? screen.handle.kill() : screen.handle.terminate());
        return parts.screens.view(id);
      }
      const place = await places.find(reference);
      const row = await rowOf(place, id);
      const terminal = await terminalOf(place, row);
      if (terminal === null) return view((await findRunById(store.read, id)) ?? row);
      await (kill ? terminal.handle.kill() : terminal.handle.terminate());
      return view((await findRunById(store.read, id)) ?? row);
    },
    detach() {
      for (const terminal of live.values()) {
        terminal.close();
        terminal.handle.detach();
      }
      live.clear();
    },
  };
};

const recordedOf = (row: RunRow): Recorded => JSON.parse(row.translator) as Recorded;

/** A shell that reads nothing of the person's: `bash` where there is one. */
const SHELL = ['sh', '-c', 'command -v bash >/dev/null 2>&1 && exec bash -i; exec sh -i'];

const runSpec = async (
  { environmentsDirectory }: TerminalsParts,
  { environment, environmentId, spec }: OpenPlace,
  { asked, id }: { readonly asked: Asked; readonly id: string },
): Promise<RunSpec> => {
  const [command = 'sh', ...args] = asked.command ?? SHELL;
  const token = await readFile(join(environmentsDirectory, environmentId, 'private', 'egress-token'), 'utf8').catch(() => null);
  return {
    command,
    args,
    cwd: environment.workdir,
    grants: [],
    env: {
      ORRERY_WORKDIR: environment.workdir,
      ORRERY_SCRATCHPAD: environment.scratchpad,
      ...(token === null ? {} : proxyEnvironment(environment.brokerEndpoint, token)),
      ...(asked.tty ? { TERM: asked.term } : {}),
    },
    secretNames: proxySecretNames,
    envPassthrough: [],
    stdio: asked.tty ? 'pty' : 'stream',
    ...(asked.tty ? { terminal: { columns: asked.columns, rows: asked.rows } } : {}),
    limits: spec.limits,
    label: asked.command === undefined ? 'shell' : 'command',
    runId: id,
  };
};

const newRow = (given: {
  readonly id: string;
  readonly place: OpenPlace;
  readonly spec: RunSpec;
  readonly asked: Asked;
  readonly nowMs: number;
}): RunRow => ({
  id: given.id,
  environment_id: given.place.environmentId,
  attempt_id: '',
  stage: STAGE,
  round: 1,
  described: given.place.environment.describe(given.spec),
  identity: null,
  state: 'recorded',
  stdout_offset: 0,
  stderr_offset: 0,
  translator: JSON.stringify({ command: given.asked.command ?? ['shell'], tty: given.asked.tty } satisfies Recorded),
  accepted: 0,
  end: null,
  started_at: given.nowMs,
  ended_at: null,
});

const tooMany = (environmentId: string): OrreryError =>
  new OrreryError('limit_reached', `${RUNNING_PER_ENVIRONMENT} programs of people run in ${environmentId} already.`, {
    rule: 'Shells and commands in one environment are bounded.',
    fix: `orrery env logs ${environmentId}`,
  });
