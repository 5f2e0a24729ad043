import type { Clock } from '../../kernel/clock.ts';
import type { LocalTrees } from '../../keeper/trees.ts';
import type { Fence } from '../grants.ts';
import type { FrontSettings } from '../keeper-spec.ts';
import type { AtPlaceStep } from './steps.ts';

/** What every environment of a remote backend is opened with. */
export type RemoteSettings = {
  /** Names this node among others that use the same engine, cluster or host. */
  readonly installation: string;
  /** The static keeper program for a Linux machine of that architecture (`x64`, `arm64`). */
  readonly keeperProgram: (arch: string) => string;
  /** Directories of this machine beside those of an environment that places may see, read-only: where agent programs are. */
  readonly mountable: readonly string[];
  /** What of this machine is never brought to a place. */
  readonly fence: Fence;
  readonly trees: LocalTrees;
  readonly front: FrontSettings;
  readonly clock: Clock;
  /** How long a place may be out of reach. */
  readonly patienceMs: number;
  readonly atStep: AtPlaceStep;
};
