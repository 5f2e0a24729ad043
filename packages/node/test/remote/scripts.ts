import type { Environment } from '../../src/exec/backend.ts';
import { collect, word } from '../conformance/stage.ts';
import { sampleRun } from '../exec/sample-specs.ts';

/** What the first and the second program of a small task do; both can be done twice. */
export const FIRST = 'printf one > first; rm -f gone; mkdir -p made; printf x > made/file';
export const SECOND = 'printf two > second; printf changed > first';

/** Runs a script in the checkout to its end. */
export const runScript = async (environment: Environment, script: string): Promise<string> => {
  const spec = sampleRun({
    args: ['-ec', script],
    cwd: environment.workdir,
    limits: { wallMs: 120_000, outputBytes: 1_000_000 },
    runId: `run-${word()}`,
  });
  const handle = await environment.start(spec);
  await handle.go();
  const [stdout, end] = await Promise.all([collect(handle, 'stdout'), handle.wait()]);
  if (end.exitCode !== 0) throw new Error(`the script ended with ${JSON.stringify(end)}`);
  await handle.finish();
  return stdout.toString();
};
