// What was done in a place is this node's to keep: it is carried back when programs have ended, and before the place goes.
import { OrreryError } from '@orrery/protocol/errors';
import { createMutex } from '../../kernel/mutex.ts';
import { toInstant } from '../../kernel/clock.ts';
import type { EnvironmentClosed, Handle } from '../backend.ts';
import { mustRun } from './command.ts';
import type { Ledger } from './ledger.ts';
import { isPlaceGone, patiently } from './patience.ts';
import { EMPTY_LIST } from './listing.ts';
import { stageOut, sweepAndList } from './staging.ts';
import type { Place } from './place.ts';
import type { StagedTree, Stager } from './staging.ts';
import type { AtPlaceStep } from './steps.ts';

/** What keeping the work of a place needs. */
export type CustodyParts = {
  readonly stager: Stager;
  readonly ledger: Ledger;
  /** Trees that are carried back; none where the place sees this machine's own. */
  readonly trees: readonly StagedTree[];
  /** What of a home is carried back at the end, when it can be: nobody's work is in it. */
  readonly kept: StagedTree | null;
  readonly atStep: AtPlaceStep;
  /** Another place with the files of one that is gone; null when they went with it. */
  readonly revive: () => Promise<Stager | null>;
  /** Ends what serves the place: the way to the broker. */
  readonly leave: () => void;
  /** Drops the view: nothing is tried again. */
  readonly drop: () => void;
};

/** The keeping. */
export type Custody = {
  /** Notes that a program is about to run: from now on there may be something to carry back. Rejects once closed. */
  begin(): Promise<void>;
  /** A program that runs. */
  hold(handle: Handle): Handle;
  sync(): Promise<void>;
  close(): Promise<EnvironmentClosed>;
};

const closedError = (id: string): OrreryError =>
  new OrreryError('stale', `The environment ${id} is closed.`, { rule: 'Nothing is started in a closed environment.' });

/** Brings everything back that changed since it was compared last. */
const carryBack = async (
  { stager, ledger, trees }: CustodyParts,
  lists: ReadonlyMap<string, Buffer> = new Map(),
): Promise<void> => {
  for (const tree of trees) {
    const before = (await ledger.directory.readList(tree.name)) ?? EMPTY_LIST;
    const known = lists.get(tree.name);
    const now = await stageOut(stager, tree, { before, ...(known === undefined ? {} : { now: known }) });
    await ledger.directory.writeList(tree.name, now);
  }
};

/** All work is here by now. What a program made of its home may be anything, and what cannot be had of it is done without. */
const carryKept = async ({ stager, kept }: CustodyParts): Promise<void> => {
  if (kept === null) return;
  try {
    await stageOut(stager, kept, { before: EMPTY_LIST });
  } catch (thrown) {
    if (!(thrown instanceof OrreryError) || stager.line.over.aborted) throw thrown;
  }
};

/** Ends every program of the place, with its tree. Answers the lists that were made of trees at once. */
const endPrograms = async ({ stager, trees: [first] }: CustodyParts): Promise<ReadonlyMap<string, Buffer>> => {
  const { line } = stager;
  if (first !== undefined) return new Map([[first.name, await sweepAndList(stager, first)]]);
  const argv = [line.layout.keeper, 'sweep', line.layout.runs];
  await patiently(line, () => mustRun(line.place, argv, { what: 'Ending its programs' }));
  return new Map();
};

const lossOf = ({ ledger, trees }: CustodyParts, thrown: OrreryError): string | null => {
  const { dirty, syncedAtMs, started } = ledger.record;
  // Where the place sees this machine's own trees, nothing was ever only there.
  if (!dirty || !started || trees.length === 0) return null;
  const since =
    syncedAtMs === null ? 'Nothing that was done in it was' : `What was done in it after ${toInstant(syncedAtMs)} was not`;
  return `${thrown.message} ${since} brought back.`;
};

/** What could not be brought back, or null; and the place that is to be given back now. */
type Home = { readonly lost: string | null; readonly place: Place };

const bringHome = async (parts: CustodyParts): Promise<Home> => {
  const { ledger, atStep } = parts;
  const { line } = parts.stager;
  const { step, started } = ledger.record;
  // Before it was open nothing ran in it; after it was staged out nothing runs any more.
  if (step !== 'open' || !started) return { lost: null, place: line.place };
  try {
    const lists = await endPrograms(parts);
    atStep('stage-out');
    await carryBack(parts, lists);
    await carryKept(parts);
  } catch (thrown) {
    if (!isPlaceGone(thrown)) throw thrown;
    const lost = lossOf(parts, thrown as OrreryError);
    const again = lost === null ? null : await parts.revive();
    return again === null ? { lost, place: line.place } : bringHome({ ...parts, stager: again });
  }
  await ledger.change({ step: 'staged-out', dirty: false, syncedAtMs: line.clock.nowMs() });
  atStep('staged-out');
  return { lost: null, place: line.place };
};

/** Takes the work of one environment into keeping. */
export const createCustody = (parts: CustodyParts): Custody => {
  const { ledger, atStep } = parts;
  const { line } = parts.stager;
  const turns = createMutex();
  const running = new Set<Handle>();
  // What ran before this view was opened is not known here: then nothing is ever called carried back while it is open.
  let certain = !ledger.record.started;
  let closed = false;
  let done = false;
  const sync = async (): Promise<void> => {
    if (parts.trees.length === 0 || closed) return;
    atStep('sync');
    const quiet = certain && running.size === 0;
    await carryBack(parts);
    await ledger.change({ syncedAtMs: line.clock.nowMs(), ...(quiet && running.size === 0 ? { dirty: false } : {}) });
    atStep('synced');
  };
  return {
    begin: async () => {
      if (closed) throw closedError(ledger.record.id);
      await ledger.change({ started: true, dirty: true });
    },
    hold: (handle) => {
      running.add(handle);
      void handle.wait().then(
        () => running.delete(handle),
        (thrown: unknown) => {
          // A view that was dropped says nothing of its program.
          if (!(thrown instanceof OrreryError && thrown.code === 'keeper_lost')) certain = false;
          running.delete(handle);
        },
      );
      return handle;
    },
    sync: () => turns.run('', sync),
    close: () =>
      turns.run('', async () => {
        closed = true;
        if (done) return { lost: null };
        const before = ledger.record.lost;
        const { lost, place } = before === null ? await bringHome(parts) : { lost: before, place: line.place };
        if (lost !== null) await ledger.change({ step: 'removed', lost });
        parts.leave();
        await patiently({ ...line, place }, () => place.remove());
        atStep('place-removed');
        parts.drop();
        line.place.detach();
        if (lost === null) await ledger.directory.remove();
        done = true;
        return { lost };
      }),
  };
};
