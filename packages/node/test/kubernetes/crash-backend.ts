// The backend kubernetes for a node in small that is killed. Given: the kubeconfig of its cluster.
import type { Backend } from '../../src/exec/backend.ts';
import type { NodeLife } from '../remote/crash-client.ts';
import { makePodBackend } from './backend.ts';

export const backendOf = (given: unknown, { installation, ...life }: NodeLife): Backend =>
  makePodBackend({ kubeconfig: String(given), instance: installation, ...life });
