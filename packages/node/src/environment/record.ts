import type { EnvironmentSpec } from '../exec/backend.ts';
import type { OwnedDirectory } from '../files/remove.ts';

/** What the environment table keeps: what it was opened with, and its directory as the node made it. */
export type RecordedEnvironment = { readonly spec: EnvironmentSpec; readonly directory: OwnedDirectory };

/** Reads the column `spec`. */
export const recordedEnvironment = (text: string): RecordedEnvironment => JSON.parse(text) as RecordedEnvironment;
