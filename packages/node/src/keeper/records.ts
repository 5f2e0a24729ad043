// Reading what a keeper wrote, as outside text: shapes are checked, nothing is assumed.
import { z } from 'zod';
import type { ExitRecord, GuaranteeReport, InputState, KeeperIdentity } from './types.ts';

const identitySchema = z.object({ pid: z.int().positive(), startTicks: z.int().nonnegative(), bootId: z.string() });

const guaranteeSchema = z.object({
  guarantee: z.enum(['files', 'network', 'hosts', 'processes', 'signals', 'limits']),
  held: z.boolean(),
  by: z.string(),
  missing: z.string().nullable(),
});

const exitSchema = z.object({
  code: z.int().nullable(),
  signal: z.string().nullable(),
  limit: z.enum(['wall', 'cpu', 'memory', 'processes', 'file', 'output']).nullable(),
  reason: z.string().nullable(),
  startedAtMs: z.number().nullable(),
  endedAtMs: z.number(),
  userMs: z.number(),
  systemMs: z.number(),
  maxRssBytes: z.number(),
  stdoutBytes: z.int().nonnegative(),
  stderrBytes: z.int().nonnegative(),
});

const helloSchema = identitySchema.extend({
  version: z.literal(1),
  state: z.enum(['waiting', 'running', 'ending', 'ended']),
  stdoutBytes: z.int().nonnegative(),
  stderrBytes: z.int().nonnegative(),
  stdoutReleased: z.int().nonnegative(),
  stderrReleased: z.int().nonnegative(),
  guarantees: z.array(guaranteeSchema),
  exit: exitSchema.nullable(),
});

const inputStateSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('unwritten') }),
  z.object({ state: z.literal('partial'), bytes: z.int().nonnegative() }),
  z.object({ state: z.literal('written') }),
]);

const probeSchema = z.object({ guarantees: z.array(guaranteeSchema) });

const lookSchema = z.union([
  z.object({ missing: z.literal(true) }),
  z.object({
    missing: z.literal(false).default(false),
    identity: identitySchema.nullable(),
    alive: z.boolean(),
    exit: exitSchema.nullable(),
    stdoutBytes: z.int().nonnegative(),
    stderrBytes: z.int().nonnegative(),
    stdoutReleased: z.int().nonnegative(),
    stderrReleased: z.int().nonnegative(),
    bootId: z.string(),
  }),
]);

/** What `orrery-keeper look` says of a directory. */
export type KeeperLook = z.output<typeof lookSchema>;

/** What HELLO and STATUS say. */
export type KeeperHello = z.output<typeof helloSchema>;

/** Each reader throws when the value has another shape. */
export const readHello = (value: unknown): KeeperHello => helloSchema.parse(value);
export const readExit = (value: unknown): ExitRecord => exitSchema.parse(value);
export const readInputState = (value: unknown): InputState => inputStateSchema.parse(value);
export const readIdentity = (value: unknown): KeeperIdentity => identitySchema.parse(value);
export const readProbe = (value: unknown): readonly GuaranteeReport[] => probeSchema.parse(value).guarantees;
export const readLook = (value: unknown): KeeperLook => lookSchema.parse(value);
