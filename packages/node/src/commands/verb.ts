import type { NodePaths } from '../config/paths.ts';

/** What every verb is given. */
export type Invocation = {
  readonly paths: NodePaths;
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly positionals: readonly string[];
};

/** A verb answers what is printed as its line. */
export type Verb = (invocation: Invocation) => Promise<Readonly<Record<string, unknown>>>;
