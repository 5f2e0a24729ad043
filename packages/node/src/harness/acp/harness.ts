// An adapter of one agent of the Agent Client Protocol: its launch and its preset, and everything else in common.

import type { Harness, ProgramPin, SessionAdapter } from '../harness.ts';
import type { McpWay } from '../mcp.ts';
import { spokenTurn } from '../spoken-turn.ts';
import type { AcpPreset } from './preset.ts';
import { acpSession } from './session.ts';

export type AcpHarnessParts = {
  readonly id: string;
  readonly summary: string;
  readonly provider: string | null;
  readonly defaultModel: string | null;
  readonly pin: ProgramPin | null;
  readonly preset: AcpPreset;
  /** As in `Harness`. */
  readonly orders?: readonly string[];
  readonly skills?: (owner: string) => string;
  readonly mcp?: readonly McpWay[];
  readonly tools?: readonly string[];
  /** Whether it takes an effort. */
  readonly effort: boolean;
  readonly launch: SessionAdapter['launch'];
};

/** Makes the adapter: a session is spoken with, and so is a task. */
export const acpHarness = ({ preset, launch, effort, ...parts }: AcpHarnessParts): Harness => {
  const session = acpSession(preset, launch);
  return {
    ...parts,
    capabilities: { process: 'stream', resume: true, toolGate: 'before', usage: true, systemPrompt: false, models: true, effort },
    screen: null,
    conversations: null,
    session,
    ...spokenTurn(session),
  };
};
