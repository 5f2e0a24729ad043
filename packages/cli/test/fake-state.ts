// What a fake node knows.
import {
  type BackendView,
  makeId,
  type OperationName,
  type OrreryEvent,
  type Project,
  type Salvage,
  type Task,
  type TokenView,
} from '@orrery/protocol';
import { backends } from './fake-facts.ts';

export const TOKEN = 'orr_owner_0123456789';
export const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z');
export const ago = (ms: number): string => new Date(NOW_MS - ms).toISOString();
const zeros = new Uint8Array(16);
export const idOf = (kind: 'task' | 'project' | 'salvage' | 'token', number: number): string =>
  makeId(kind, NOW_MS - 3_600_000 + number * 1000, zeros);

/** What a fake node knows. Tests change it freely. */
export type FakeState = {
  /** The patch of every task; the usual one when absent. */
  patch?: string;
  projects: Project[];
  tasks: Task[];
  salvage: Salvage[];
  tokens: TokenView[];
  events: OrreryEvent[];
  usage: {
    provider: string;
    model: string;
    calls: number;
    inputTokens: number;
    outputTokens: number;
    cachedTokens: number;
    reasoningTokens: number;
    costUsd: number | null;
  }[];
  queuePaused: boolean;
  stopping: boolean;
  installationId: string;
  backends: BackendView[];
  lacks: OperationName[];
  policies: 'none' | 'some' | 'broken';
  /** How often somebody looked at a login that waits; 0: none does. */
  looks: number;
  /** Operations that are done but whose answer is lost, and ones that are never answered. */
  cuts: OperationName[];
  hangs: OperationName[];
  /** Requests that were made, as `POST /tasks req_…`. */
  seen: string[];
  byRequest: Map<string, string>;
};

/** A node that knows nothing yet. */
export const emptyState = (): FakeState => ({
  policies: 'none',
  looks: 0,
  projects: [],
  tasks: [],
  salvage: [],
  tokens: [],
  events: [],
  usage: [],
  queuePaused: false,
  stopping: false,
  installationId: 'ins_fake',
  backends: structuredClone(backends),
  lacks: [],
  cuts: [],
  hangs: [],
  seen: [],
  byRequest: new Map(),
});
