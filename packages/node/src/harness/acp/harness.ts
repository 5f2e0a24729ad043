// An adapter of one agent of the Agent Client Protocol: its launch and its preset, and everything else in common.

import { OrreryError } from '@orrery/protocol';
import type { Harness, ProgramPin, SessionAdapter } from '../harness.ts';
import type { AcpPreset } from './preset.ts';
import { acpSession } from './session.ts';

export type AcpHarnessParts = {
  readonly id: string;
  readonly summary: string;
  readonly provider: string | null;
  readonly defaultModel: string | null;
  readonly pin: ProgramPin | null;
  readonly preset: AcpPreset;
  /** Whether it takes an effort. */
  readonly effort: boolean;
  readonly launch: SessionAdapter['launch'];
};

/** Makes the adapter. It holds sessions; tasks are refused. */
export const acpHarness = ({ preset, launch, effort, ...parts }: AcpHarnessParts): Harness => ({
  ...parts,
  capabilities: { process: 'stream', resume: true, toolGate: 'before', usage: true, systemPrompt: false, models: true, effort },
  screen: null,
  conversations: null,
  session: acpSession(preset, launch),
  launch: () => {
    throw noTasks(parts.id, preset.program);
  },
  translator: () => {
    throw noTasks(parts.id, preset.program);
  },
});

const noTasks = (id: string, program: string): OrreryError =>
  new OrreryError('unsupported', `The harness ${id} does not run tasks.`, {
    rule: `${program} is spoken with in sessions; a task needs a program that works through one prompt by itself.`,
    fix: `orrery session start --harness ${id}`,
  });
