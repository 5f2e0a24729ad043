// The session of the program that started this process, and the words by which the node knows that it lives.
import type { AttachedCreate, AttachedView } from '@orrery/protocol';
import { toOrreryError, type OrreryError } from '@orrery/protocol/errors';
import type { Link } from '../../patient-link.ts';
import { mcpLimits } from './limits.ts';

export type Membership = {
  session(): Promise<AttachedView>;
  /** The session after one that the node ended while the process lived on. */
  again(over: string): Promise<AttachedView>;
  /** The program said what it is. */
  introduce(program: string): void;
  /** Says that the process lives, until it is left. */
  live(): Promise<void>;
  /** Says that the process ends; the node is not waited for long. */
  leave(): Promise<void>;
};

export type MembershipParts = {
  readonly link: Pick<Link, 'call'>;
  readonly asked: Omit<AttachedCreate, 'program' | 'requestId'>;
  readonly newRequestId: () => string;
  readonly sleep: (ms: number) => Promise<void>;
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
};

/** Whether the node says that the session is over, or knows none. */
export const isOver = ({ code }: OrreryError): boolean => code === 'conflict' || code === 'not_found';

export const createMembership = ({ link, asked, newRequestId, sleep, note, signal }: MembershipParts): Membership => {
  let program: string | null = null;
  let told: string | null = null;
  let current: Promise<AttachedView> | null = null;

  const attach = async (): Promise<AttachedView> => {
    told = program;
    const requestId = newRequestId();
    const body = { ...asked, requestId, ...(program === null ? {} : { program }) };
    const made = await link.call('attachedBegin', { body, idempotencyKey: requestId });
    note(`  Attached as ${made.name} (${made.id}).`);
    return made;
  };
  const session = (): Promise<AttachedView> => {
    current ??= attach().catch((thrown: unknown) => {
      current = null;
      throw thrown;
    });
    return current;
  };
  const again = async (over: string): Promise<AttachedView> => {
    const before = await session();
    if (before.id !== over) return before;
    note(`  The node ended the session ${before.name}, whose process was silent too long.`);
    current = null;
    return session();
  };
  const beat = async (): Promise<void> => {
    const { id } = await session();
    // The program may say what it is while this is on its way.
    const saying = program;
    const body = saying === null || saying === told ? {} : { program: saying };
    try {
      await link.call('attachedBeat', { params: { id }, body });
      told = saying;
    } catch (thrown) {
      if (!isOver(toOrreryError(thrown))) throw thrown;
      if (!signal.aborted) await again(id);
    }
  };
  const pause = async (): Promise<void> => {
    for (let restMs: number = mcpLimits.beatMs; restMs > 0 && !signal.aborted; restMs -= mcpLimits.restMs) {
      await sleep(Math.min(restMs, mcpLimits.restMs));
      if (program !== told) return;
    }
  };
  return {
    session,
    again,
    introduce: (name) => void (program = name),
    live: async () => {
      while (!signal.aborted) {
        await beat().catch((thrown: unknown) => note(`  ${toOrreryError(thrown).message}`));
        await pause();
      }
    },
    leave: async () => {
      if (current === null) return;
      const left = current.then(async ({ id }) => {
        if (program !== told) await beat();
        await link.call('attachedEnd', { params: { id }, body: {} });
      });
      await Promise.race([left.catch(() => undefined), sleep(mcpLimits.leaveMs)]);
    },
  };
};
