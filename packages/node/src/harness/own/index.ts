// Agent programs of the operator's own that speak the Agent Client Protocol: Cursor and Grok by their usual commands, any
// other by what the configuration says. Nothing of them is pinned, and nothing that they do is verified.

import type { DeclaredHarness } from '../../config/node-schema.ts';
import { acpHarness } from '../acp/harness.ts';
import type { AcpPreset } from '../acp/preset.ts';
import type { Harness, SessionContext, SessionLaunch } from '../harness.ts';
import { requireProgram } from '../program.ts';

/** What is said of it. */
type Own = Pick<DeclaredHarness, 'command' | 'files' | 'env' | 'egress' | 'modes' | 'model' | 'description'>;

type Known = {
  readonly program: string;
  readonly summary: string;
  readonly command: readonly string[];
  readonly logins: readonly string[];
};

const KNOWN: Readonly<Record<string, Known>> = {
  cursor: {
    program: 'Cursor',
    summary: 'Cursor, your own installation',
    command: ['cursor-agent', 'acp'],
    logins: ['cursor_login'],
  },
  grok: {
    program: 'Grok',
    summary: 'Grok, your own installation',
    command: ['grok', 'agent', 'stdio'],
    logins: ['xai.api_key', 'cached_token'],
  },
};

/** Names that programs give the mode in which they ask, and the one in which they plan. */
const ASKING = ['default', 'ask', 'manual', 'agent', 'build'];
const PLANNING = ['plan'];

const presetOf = (id: string, known: Known | undefined, { modes }: Pick<Own, 'modes'>): AcpPreset => ({
  program: known?.program ?? id,
  modes: {
    ask: modes.ask === undefined ? ASKING : [modes.ask],
    plan: modes.plan === undefined ? PLANNING : [modes.plan],
  },
  hidesFailures: true,
  counts: 'turn',
  logins: known?.logins ?? [],
  quiet: [],
  choosesInSession: true,
  images: false,
  tellsContext: false,
  compact: null,
});

const launchOf =
  (id: string, { command, files, env }: Pick<Own, 'command' | 'files' | 'env'>) =>
  (context: SessionContext): SessionLaunch => {
    const program = requireProgram(context.program, id);
    return {
      command: program.executable,
      args: command.slice(1),
      env,
      homeFiles: {},
      programPaths: [program.directory, ...files],
    };
  };

/** The harness of a program that is the operator's own. */
export const ownHarness = (id: string, settings: Own): Harness => {
  const known = Object.hasOwn(KNOWN, id) ? KNOWN[id] : undefined;
  const [command = ''] = settings.command;
  const summary = settings.description || known?.summary || `An agent of the Agent Client Protocol: ${command}`;
  return {
    ...acpHarness({
      // It talks to a provider of its own, by its own login.
      ...{ id, summary, provider: null, defaultModel: settings.model, pin: null, effort: true },
      preset: presetOf(id, known, settings),
      launch: launchOf(id, settings),
    }),
    ...{ own: { command }, declared: true, egress: settings.egress },
  };
};

const nothing = { files: [], env: {}, egress: [], modes: {}, model: null, description: '' };

/** Programs that many have installed, by the commands that are usual for them. */
export const usualHarnesses: readonly Harness[] = Object.entries(KNOWN).map(([id, { command }]) => ({
  ...ownHarness(id, { ...nothing, command: [...command] }),
}));
