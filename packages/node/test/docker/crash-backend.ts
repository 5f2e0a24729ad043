// The backend docker for a node in small that is killed. Given: the socket of its engine.
import type { Backend } from '../../src/exec/backend.ts';
import type { NodeLife } from '../remote/crash-client.ts';
import { makeDockerBackend } from './backend.ts';

export const backendOf = (given: unknown, life: NodeLife): Backend => makeDockerBackend({ socket: String(given), ...life });
