import { OrreryError } from '@orrery/protocol/errors';
import type { NodeConfig } from '../config/node-schema.ts';
import { parseProjectFile } from '../config/project-schema.ts';
import { pinOf } from '../config/settle-image.ts';
import { settleTask, type TaskSettings } from '../config/settle.ts';
import type { Backend } from '../exec/backend.ts';
import type { Projects } from '../project/index.ts';

/** What settling needs of the node. */
export type SettlingGround = {
  readonly config: { current(): NodeConfig };
  readonly projects: Pick<Projects, 'byIds'>;
};

type Asked = {
  readonly request: Parameters<typeof settleTask>[0]['request'];
  /** Whose pins hold; null: no project. */
  readonly projectId: string | null;
  readonly projectFile: string | null;
};

/**
 * A request, the project's file and the operator's configuration as one, with what the operator pinned for that project: the
 * same for tasks, environments and sessions. @throws OrreryError as `settleTask` does
 */
export const settleRequest = async (
  { config, projects }: SettlingGround,
  { request, projectId, projectFile }: Asked,
): Promise<TaskSettings> => {
  const node = config.current();
  const project = projectId === null ? null : ((await projects.byIds([projectId])).get(projectId) ?? null);
  return settleTask({ request, project: parseProjectFile(projectFile), node, pin: pinOf(node, project) });
};

/** Throws `unsupported` for a request that names an image where there are none. */
export const checkTakesImage = (backend: Pick<Backend, 'name' | 'takesImages'>, image: string | undefined): void => {
  if (image === undefined || backend.takesImages === true) return;
  throw new OrreryError('unsupported', `The request names an image, and the backend ${backend.name} has none.`, {
    rule: 'Containers and pods are made from images; elsewhere programs run with what the machine has.',
    fix: 'Leave --image away, or name a backend with images: --backend docker',
    details: { key: 'image' },
  });
};
