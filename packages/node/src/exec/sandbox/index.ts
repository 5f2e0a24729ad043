// Backend `sandbox`: the keeper's own confinement (Landlock, namespaces, seccomp, no capabilities). Root or user, no daemon.
import { z } from 'zod';
import type { BackendFactory } from '../backend.ts';
import { DEFAULT_REQUIRED } from '../guarantee-check.ts';
import { createKeeperBackend } from '../keeper-backend.ts';
import type { KeeperBackendParts } from '../keeper-backend.ts';
import { SANDBOX_FRONT_PORT } from '../limits.ts';
import { frontOptions, parseBackendOptions } from '../options.ts';
import { renderSandbox } from './render.ts';

const absolutePath = z.string().regex(/^\//, 'an absolute path');

const optionsSchema = z.strictObject({
  ...frontOptions,
  toolPaths: z
    .array(absolutePath)
    .default([])
    .describe(
      'Directories every program may read and execute, beside the system; they (or their bin folders) come first in PATH',
    ),
  unixSockets: z.boolean().default(false).describe('Allow Unix sockets inside'),
  frontPort: z.int().min(1024).max(65535).default(SANDBOX_FRONT_PORT).describe("The broker's port inside"),
});

/** The factory of `sandbox`. Options: `toolPaths`, `unixSockets`, `frontPort`, `brokerHoldMs`, `brokerHoldMax`. */
export const sandboxFactory = (parts: KeeperBackendParts): BackendFactory => ({
  name: 'sandbox',
  aliases: ['landlock', 'landrun'],
  summary:
    "The keeper's own confinement: files by an allow list, no network but the broker, own processes. The default on Linux.",
  make: (options) => {
    const { frontPort, toolPaths, unixSockets, ...front } = parseBackendOptions('sandbox', optionsSchema, options);
    const kind = {
      name: 'sandbox',
      notice: null,
      cannotStop: [
        'A fault of the kernel itself.',
        'Looking up whether a path exists and what its mode and size are (contents stay closed).',
        'Filling the disk with many files: a limit bounds each file, not their sum.',
        'Sending data to an allowed host: names are checked, contents are not.',
        'Changing hooks, editor and agent settings inside the checkout that no read-only path covers: the node never runs or reads them from there.',
      ],
      defaultRequired: DEFAULT_REQUIRED,
      guarantees: parts.keeper.probe,
      front,
      frontPort: () => Promise.resolve(frontPort),
      render: (input: Parameters<typeof renderSandbox>[0]) => renderSandbox(input, { toolPaths, unixSockets }),
    };
    return createKeeperBackend(kind, parts);
  },
});
