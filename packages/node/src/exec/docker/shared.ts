// Agent programs that the containers of a node share: a volume that each has read-only, and that a container made for it
// writes. That one runs nothing of an agent's, has no network, and is gone when the program is there.
import { readFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { randomHex, systemRandom } from '../../kernel/random.ts';
import { CARRY, architectureOf } from '../remote/furnish.ts';
import { mustRun } from '../remote/command.ts';
import { CARRY_MS } from '../remote/limits.ts';
import type { Place, SharedFolder, SharedWriter } from '../remote/place.ts';
import type { Engine } from './engine.ts';
import { startProcess } from './process.ts';
import { SHARED_FOLDER, renderCarrier } from './request.ts';
import { folderArchive } from './tar.ts';
import type { UserIds } from './user.ts';
import type { EngineContainer } from './wire.ts';

/** What the writer of a volume is made with. */
export type SharedParts = {
  readonly engine: Engine;
  readonly installation: string;
  readonly keeperProgram: (arch: string) => string;
};

/** Each user has a folder of its own: what one unpacked, another may not be able to read. */
const folderOf = ({ uid }: UserIds): string => `u${uid}`;

const keeperIn = async (exec: Place['exec'], path: string, program: SharedParts['keeperProgram']): Promise<string> => {
  const machine = await mustRun({ exec }, ['uname', '-sm'], { what: 'Looking at the machine' });
  const bytes = await readFile(program(architectureOf(machine.toString('utf8'))));
  const keeper = `${path}/keeper-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`;
  const argv = ['sh', '-c', `[ -x "$1" ] || { ${CARRY}; }`, 'sh', keeper];
  await mustRun({ exec }, argv, { what: 'Carrying the keeper program in', stdin: bytes, timeoutMs: CARRY_MS });
  return keeper;
};

const openWriter = async (parts: SharedParts, image: string, owner: UserIds): Promise<SharedWriter> => {
  const { engine, installation } = parts;
  const user = `${owner.uid}:${owner.gid}`;
  const name = `carrier-${randomHex(systemRandom, 6)}`;
  const id = await engine.createContainer(renderCarrier({ installation, image, user, name }));
  if (id === null) throw new Error('a name that was made at random is taken');
  const close = (): Promise<void> => engine.removeContainer(id);
  try {
    const folder = folderOf(owner);
    await engine.putArchive(id, SHARED_FOLDER, folderArchive([{ name: folder, mode: 0o700, ...owner }]));
    await engine.start(id);
    const exec: Place['exec'] = (command) => startProcess({ engine, containerId: id, user }, command);
    return { exec, keeper: await keeperIn(exec, `${SHARED_FOLDER}/${folder}`, parts.keeperProgram), close };
  } catch (thrown) {
    await close().catch(() => undefined);
    throw thrown;
  }
};

/** The folder as a container sees it; none for one that was made without it. */
export const sharedOf = (parts: SharedParts, container: EngineContainer, owner: UserIds): Pick<Place, 'shared'> => {
  const { Image, Mounts } = container;
  if (Image === undefined || Mounts?.some(({ Destination }) => Destination === SHARED_FOLDER) !== true) return {};
  const shared: SharedFolder = {
    path: `${SHARED_FOLDER}/${folderOf(owner)}`,
    // Links lie in containers, where nobody else sees them: what is unused goes with the volume.
    environments: null,
    writer: () => openWriter(parts, Image, owner),
  };
  return { shared };
};

/** Removes the volume of an installation with what wrote it, unless one of its environments is there. */
export const clearShared = async (engine: Engine, installation: string): Promise<void> => {
  const owner = { installation, shared: true } as const;
  for (const { id } of await engine.listContainers(owner)) await engine.removeContainer(id);
  if ((await engine.listContainers({ installation })).length > 0) return;
  for (const { id } of await engine.listVolumes(owner)) await engine.removeVolume(id);
};
