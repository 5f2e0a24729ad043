// Receipts: a note for each change that was sent, written before sending. Free of content: hashes and ids only.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeId } from '@orrery/protocol/ids';
import { OrreryError } from '@orrery/protocol/errors';
import type { World } from './world.ts';

/** What is kept of one change. It proves nothing and is never sent again by itself. */
export type Receipt = {
  readonly requestId: string;
  readonly action: string;
  /** The installation that it went to. */
  readonly authority: string;
  /** SHA-256 of what was asked, in canonical JSON. */
  readonly intent: string;
  readonly state: 'sending' | 'done' | 'failed';
  /** Ids of what came of it. */
  readonly resources: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
};

/** Most receipts that are kept; the oldest settled ones make room. */
const KEPT_RECEIPTS = 1000;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** JSON with sorted keys; what is undefined is left out. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{${entries
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`)
    .join(',')}}`;
};

/** A new request id. */
export const newRequestId = (world: Pick<World, 'now' | 'random'>): string => makeId('request', world.now(), world.random(16));

/** Keeps receipts in one folder, a file for each. */
export type ReceiptBook = {
  /** Writes the receipt before its change is sent. The same key with another intent is refused with `request_conflict`. */
  open(given: {
    readonly requestId: string;
    readonly action: string;
    readonly authority: string;
    readonly intent: unknown;
  }): Promise<Receipt>;
  settle(receipt: Receipt, state: 'done' | 'failed', resources?: readonly string[]): Promise<Receipt>;
};

export const receiptBook = (folder: string, now: () => number): ReceiptBook => {
  const pathOf = (receipt: Pick<Receipt, 'authority' | 'requestId'>): string =>
    join(folder, `${sha256(`${receipt.authority}\n${receipt.requestId}`).slice(0, 32)}.json`);
  const write = async (receipt: Receipt): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = pathOf(receipt);
    await writeFile(`${path}.new`, `${JSON.stringify(receipt)}\n`, { mode: 0o600, flush: true });
    await rename(`${path}.new`, path);
  };
  return {
    open: async ({ requestId, action, authority, intent }) => {
      const at = new Date(now()).toISOString();
      const receipt: Receipt = {
        requestId,
        action,
        authority,
        intent: sha256(canonicalJson({ action, intent })),
        state: 'sending',
        resources: [],
        createdAt: at,
        updatedAt: at,
      };
      const known = await readReceipt(pathOf(receipt));
      if (known !== null && known.intent !== receipt.intent) {
        throw new OrreryError('request_conflict', 'That request id was already used for something else.', {
          rule: 'One request id stands for one intent; leave --request-id out, or give another.',
          fix: 'orrery task list',
        });
      }
      if (known !== null) return known;
      await makeRoom(folder);
      await write(receipt);
      return receipt;
    },
    settle: async (receipt, state, resources = []) => {
      const settled = { ...receipt, state, resources: [...resources], updatedAt: new Date(now()).toISOString() };
      await write(settled);
      return settled;
    },
  };
};

const readReceipt = async (path: string): Promise<Receipt | null> => {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Receipt;
  } catch {
    return null;
  }
};

const makeRoom = async (folder: string): Promise<void> => {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'));
  if (names.length < KEPT_RECEIPTS) return;
  const receipts = await Promise.all(names.map(async (name) => ({ name, receipt: await readReceipt(join(folder, name)) })));
  const settled = receipts
    .filter(({ receipt }) => receipt === null || receipt.state !== 'sending')
    .sort((left, right) => ((left.receipt?.createdAt ?? '') < (right.receipt?.createdAt ?? '') ? -1 : 1));
  for (const { name } of settled.slice(0, Math.ceil(KEPT_RECEIPTS / 10))) await unlink(join(folder, name)).catch(() => undefined);
};
