// What the engine answers, as far as it is read. Docker and Podman differ in what they leave out.
import { z } from 'zod';

const labels = z.record(z.string(), z.string()).nullish();

export const aboutSchema = z.object({
  OSType: z.string().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
  MemoryLimit: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
  ServerVersion: z.string().optional(),
  /** Only Podman has it. */
  BuildahVersion: z.string().optional(),
  Rootless: z.boolean().optional(),
});

export const imageSchema = z.object({
  Id: z.string(),
  Os: z.string().optional(),
  Architecture: z.string().optional(),
  Size: z.number().optional(),
  RepoTags: z.array(z.string()).nullish(),
  Config: z.object({ Labels: labels, User: z.string().nullish(), Env: z.array(z.string()).nullish() }).nullish(),
});

export const containerSchema = z.object({
  Id: z.string(),
  Image: z.string().optional(),
  Config: z.object({ Labels: labels, User: z.string().nullish(), Env: z.array(z.string()).nullish() }),
  State: z.object({
    Status: z.string(),
    Running: z.boolean().optional(),
    OOMKilled: z.boolean().optional(),
    ExitCode: z.int().optional(),
    Error: z.string().optional(),
    FinishedAt: z.string().optional(),
  }),
  HostConfig: z.object({ Memory: z.number().optional() }).optional(),
  SizeRw: z.number().nullish(),
  SizeRootFs: z.number().nullish(),
  Mounts: z.array(z.object({ Type: z.string(), Source: z.string().optional(), Destination: z.string() })).nullish(),
});

export const listedSchema = z.array(z.object({ Id: z.string(), Labels: labels }));
export const imagesSchema = z.array(z.object({ Id: z.string(), RepoTags: z.array(z.string()).nullish(), Labels: labels }));
export const volumesSchema = z.object({ Volumes: z.array(z.object({ Name: z.string(), Labels: labels })).nullish() });
export const execSchema = z.object({ Running: z.boolean(), ExitCode: z.int().nullish() });

export const statsSchema = z.object({
  memory_stats: z.object({ usage: z.number().optional(), stats: z.record(z.string(), z.number()).nullish() }).nullish(),
  pids_stats: z.object({ current: z.number().optional() }).nullish(),
});

/** One line of the progress of a pull or a build. */
export const progressSchema = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  error: z.string().optional(),
});

export const eventSchema = z.object({ Actor: z.object({ ID: z.string() }) });

export type EngineEvent = z.output<typeof eventSchema>;
export type EngineAbout = z.output<typeof aboutSchema>;
export type EngineImage = z.output<typeof imageSchema>;
export type EngineContainer = z.output<typeof containerSchema>;
export type EngineStats = z.output<typeof statsSchema>;
