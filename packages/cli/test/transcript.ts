// Transcripts: what a person types and sees. Lines: `# remark` · `@ setting` · `$ command` · `| standard output` ·
// `! standard error` · `= exit code`.
import type { Printed } from './fake-world.ts';

/** One command of a transcript with what it printed. */
export type Step = { readonly settings: readonly string[]; readonly command: string; readonly expected: Printed };

/** Reads a transcript; remarks stay with their command. */
export const readTranscript = (
  text: string,
): { readonly steps: readonly Step[]; readonly remarks: readonly (readonly string[])[] } => {
  const steps: Step[] = [];
  const remarks: string[][] = [];
  for (const block of text.split('\n\n')) {
    const lines = block.split('\n');
    const of = (mark: string): string[] =>
      lines.filter((line) => line === mark || line.startsWith(`${mark} `)).map((line) => line.slice(2));
    const command = of('$')[0];
    if (command === undefined) continue;
    const join = (mark: string): string =>
      of(mark)
        .map((line) => `${line}\n`)
        .join('');
    steps.push({ settings: of('@'), command, expected: { stdout: join('|'), stderr: join('!'), exit: Number(of('=')[0]) } });
    remarks.push(of('#'));
  }
  return { steps, remarks };
};

/** Writes one step as it is kept. */
export const stepText = (step: Pick<Step, 'settings' | 'command'>, remarks: readonly string[], printed: Printed): string => {
  const lines = (mark: string, text: string): string[] =>
    text === ''
      ? []
      : text
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => `${mark} ${line}`.trimEnd());
  return [
    ...remarks.map((line) => `# ${line}`),
    ...step.settings.map((line) => `@ ${line}`),
    `$ ${step.command}`,
    ...lines('|', printed.stdout),
    ...lines('!', printed.stderr),
    `= ${printed.exit}`,
    '',
  ].join('\n');
};

/** Splits a command as a shell would: words, quotes, nothing else. */
export const shellWords = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
