// The run token for a program on Node that knows keys only as variables of its environment: a file that is loaded before
// it puts the token there from the token's file, and keeps it away from what the program starts.

/** Where that file lies below HOME. */
const FILE = '.orrery/run-token.mjs';

const script = (variable: string, tokenFile: string): string => `import { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';

const name = ${JSON.stringify(variable)};
process.env[name] = readFileSync(${JSON.stringify(tokenFile)}, 'utf8').trim();

const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (options) {
  const envPairs = options.envPairs?.filter((pair) => !pair.startsWith(name + '='));
  return spawn.call(this, { ...options, envPairs });
};
`;

/** Arguments of Node that load it, and the file itself. No secret is in either. */
export const runTokenLoader = ({
  variable,
  tokenFile,
  home,
}: {
  readonly variable: string;
  readonly tokenFile: string;
  readonly home: string;
}): { readonly args: readonly string[]; readonly homeFiles: Readonly<Record<string, string>> } => ({
  args: ['--import', `${home}/${FILE}`],
  homeFiles: { [FILE]: script(variable, tokenFile) },
});

/** A command of a shell that prints it. */
export const printToken = (tokenFile: string): string => `cat '${tokenFile.replaceAll("'", `'\\''`)}'`;
