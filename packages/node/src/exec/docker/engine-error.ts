// Failures of an engine, in the node's words.
import { OrreryError } from '@orrery/protocol/errors';

const textOf = (thrown: unknown): string => {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text
    .replace(/^\(HTTP code \d+\) /, '')
    .trim()
    .slice(0, 500);
};

/** The HTTP status that the engine answered with; null when it did not answer. */
export const statusOf = (thrown: unknown): number | null =>
  thrown instanceof Error && 'statusCode' in thrown && typeof thrown.statusCode === 'number' ? thrown.statusCode : null;

/** Whether a name is taken: Docker says so by a status of its own, Podman 4 by a sentence. */
export const isNameTaken = (thrown: unknown): boolean =>
  statusOf(thrown) === 409 || (statusOf(thrown) === 500 && /name .* is already in use/.test(textOf(thrown)));

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';

/** The error of an engine that does not answer: nobody knows what is there. */
export const engineUnreachable = (what: string, thrown: unknown): OrreryError =>
  new OrreryError('backend_unreachable', `The container engine did not answer (${what}): ${textOf(thrown)}`, {
    rule: 'While it cannot be asked, nobody can tell what is there; nothing is taken for gone.',
    fix: 'Start the engine again; what ran in containers is looked at then.',
    cause: thrown,
  });

/** Anything that a call to the engine threw. What it refused is `backend_unavailable` with its own words. */
export const engineError = (what: string, thrown: unknown): OrreryError => {
  if (thrown instanceof OrreryError) return thrown;
  if (codeOf(thrown) === 'EACCES') {
    return new OrreryError('backend_unavailable', `The container engine's socket may not be used by this user (${what}).`, {
      rule: 'Whoever may use it is root on this machine.',
      fix: 'Run the node as a user who may (group docker), or use an engine of the user’s own: rootless Docker or Podman.',
      cause: thrown,
    });
  }
  if (statusOf(thrown) === null) return engineUnreachable(what, thrown);
  return new OrreryError('backend_unavailable', `The container engine refused ${what}: ${textOf(thrown)}`, { cause: thrown });
};
