// A node in small that builds an image, to be killed while it does. Its argument is one JSON text.
import { readFileSync } from 'node:fs';
import { builderAt, sampleBuild } from './builds.ts';

export type BuildOrder = { readonly socket: string; readonly installation: string; readonly lines: readonly string[] };

const { socket, installation, lines } = JSON.parse(readFileSync(0, 'utf8')) as BuildOrder;
await builderAt(socket, installation).build(sampleBuild(lines), (line) => process.stdout.write(`${line}\n`));
