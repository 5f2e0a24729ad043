import { OrreryError, toOrreryError } from '@orrery/protocol/errors';
import { meaningOf, modeOf, nameOf, readInput, type Meaning } from './command-line.ts';
import type { CommandSpec, Mode, Outcome } from './commands/command.ts';
import { table } from './commands/table.ts';
import { createContext, type Held } from './context.ts';
import { errorEnvelope, resultEnvelope, type EnvelopeParts } from './envelope.ts';
import { exitOfError } from './exit.ts';
import { commandHelp, mainHelp, nounHelp } from './help.ts';
import { inert, inertJson } from './inert.ts';
import { screenOf } from './screen.ts';
import type { World } from './world.ts';

/** Runs one command line and answers its exit code. Never throws: whatever goes wrong is an envelope or three lines. */
export const runProgram = async (argv: readonly string[], world: World): Promise<number> => {
  const mode = modeOf(argv);
  let meaning: Meaning;
  try {
    meaning = meaningOf(argv, table);
  } catch (thrown) {
    return fail({ world, mode, parts: bareParts('command'), error: toOrreryError(thrown) });
  }
  if (meaning.kind === 'help') return showHelp(meaning, world, argv);
  return runCommand(meaning, mode, world);
};

const bareParts = (action: string): EnvelopeParts => ({ action, node: null, receipt: null, warnings: [] });

const actionOf = (spec: CommandSpec): string => nameOf(spec).replace(' ', '.');

const showHelp = (meaning: Meaning & { kind: 'help' }, world: World, argv: readonly string[]): number => {
  const screen = screenOf(world.stdout, world.env, argv.includes('--no-color'));
  const text =
    meaning.spec !== null
      ? commandHelp(meaning.spec, screen)
      : meaning.noun !== null
        ? nounHelp(meaning.noun, table, screen)
        : mainHelp(table, screen);
  world.stdout.write(modeOf(argv) === 'human' ? `${text}\n` : `${inertJson(resultEnvelope(bareParts('help'), { text }))}\n`);
  return 0;
};

const runCommand = async (meaning: Meaning & { kind: 'command' }, mode: Mode, world: World): Promise<number> => {
  const { spec } = meaning;
  const held: Held = { connection: null, receipt: null, warnings: [] };
  const partsNow = (): EnvelopeParts => ({
    action: actionOf(spec),
    node: held.connection?.node ?? null,
    receipt: held.receipt,
    warnings: held.warnings,
  });
  try {
    const context = createContext({ table, spec, input: readInput(meaning), mode, world, held });
    const run = await spec.load();
    const outcome = await run(context);
    return outcome.failure === undefined
      ? succeed({ world, mode, parts: partsNow(), outcome })
      : endWithFailure({ world, mode, parts: partsNow(), outcome, failure: outcome.failure });
  } catch (thrown) {
    if (!(thrown instanceof OrreryError) && world.env['ORRERY_DEBUG'] === '1')
      world.stderr.write(`${thrown instanceof Error ? thrown.stack : String(thrown)}\n`);
    return fail({ world, mode, parts: partsNow(), error: commandError(thrown) });
  } finally {
    held.connection?.client.close();
  }
};

/** What is thrown by mistake happened here, not in the node. */
const commandError = (thrown: unknown): OrreryError => {
  const error = toOrreryError(thrown);
  if (error.code !== 'internal' || thrown instanceof OrreryError) return error;
  return new OrreryError('internal', 'The command line itself failed; that is a mistake in Orrery.', {
    rule: 'What the node does goes on.',
    fix: 'Repeat it with ORRERY_DEBUG=1 in the environment and report what it prints.',
    cause: thrown,
  });
};

type Ending = { readonly world: World; readonly mode: Mode; readonly parts: EnvelopeParts };

const succeed = ({ world, mode, parts, outcome }: Ending & { readonly outcome: Outcome }): number => {
  if (mode !== 'human') {
    world.stdout.write(`${inertJson(resultEnvelope(parts, outcome.result))}\n`);
    return 0;
  }
  writeText(world, outcome);
  return 0;
};

const writeText = (world: World, { text, hints }: Outcome): void => {
  if (text !== undefined && text !== null && text !== '') world.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  for (const hint of hints ?? []) world.stderr.write(`${hint}\n`);
};

const endWithFailure = ({
  world,
  mode,
  parts,
  outcome,
  failure,
}: Ending & { readonly outcome: Outcome; readonly failure: NonNullable<Outcome['failure']> }): number => {
  const exit = failure.exit ?? exitOfError(failure.error.code);
  if (mode === 'human') writeText(world, outcome);
  else world.stdout.write(`${inertJson(errorEnvelope(parts, failure.error, exit))}\n`);
  return exit;
};

const fail = ({ world, mode, parts, error }: Ending & { readonly error: OrreryError }): number => {
  if (mode === 'human') writeError(world, error);
  else world.stdout.write(`${inertJson(errorEnvelope(parts, error))}\n`);
  return exitOfError(error.code);
};

/** Three lines: what failed, the rule, the fix; the last one can be pasted. */
const writeError = (world: World, error: OrreryError): void => {
  const screen = screenOf(world.stderr, world.env);
  const [first = '', ...rest] = error.toLines().map((line) => inert(line));
  world.stderr.write(`${[`${screen.bad('✗')} ${first}`, ...rest.map((line) => `  ${line}`)].join('\n')}\n`);
};
