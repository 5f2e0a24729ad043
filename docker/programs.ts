// Puts the pinned agent programs of the harnesses into a folder, for an image: `node docker/programs.ts FOLDER`. Beside
// each it writes VERSION and EXECUTABLE, which the image's own scripts read.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PINS, PROGRAMS_FOLDER, installPrograms } from '../tools/agent-programs.ts';

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('usage: node docker/programs.ts FOLDER');

const problems = installPrograms();
if (problems.length > 0) throw new Error(problems.join('\n'));
for (const [id, pin] of Object.entries(PINS)) {
  const executable = pin.executable[`linux-${process.arch}`];
  if (executable === undefined) throw new Error(`${id} is not made for linux-${process.arch}`);
  const folder = join(target, id);
  mkdirSync(folder, { recursive: true });
  cpSync(join(PROGRAMS_FOLDER, id), folder, { recursive: true, verbatimSymlinks: true });
  writeFileSync(join(folder, 'VERSION'), `${pin.version}\n`);
  writeFileSync(join(folder, 'EXECUTABLE'), `${executable}\n`);
}
