import { OrreryError } from '@orrery/protocol/errors';
import type { Pull } from '../codehost.ts';
import type { HostAnswer } from '../request.ts';
import { CODEHOST_BRANCH_CHARS, CODEHOST_TITLE_CHARS } from '../limits.ts';
import { hostRefused, hostUnreachable, oneLine, saidByHost } from '../words.ts';
import { problemSchema, type GithubPull } from './wire.ts';

/** A pull request of GitHub's as ours; its texts are lines that can be shown, and become messages of commits. */
export const toPull = (pull: GithubPull): Pull => ({
  number: pull.number,
  url: pull.html_url,
  state: pull.merged_at != null ? 'merged' : pull.state,
  draft: pull.draft ?? false,
  title: oneLine(pull.title, CODEHOST_TITLE_CHARS) || `#${pull.number}`,
  base: oneLine(pull.base.ref, CODEHOST_BRANCH_CHARS),
  branch: oneLine(pull.head.ref, CODEHOST_BRANCH_CHARS),
  headSha: pull.head.sha,
});

/** Whether a refusal of a new one says that there is one already. */
export const saysExists = (said: string): boolean => /a pull request already exists/i.test(said);

/** All that a refusal says, as one line. */
export const saidIn = (body: Buffer, token: string): string => {
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return '';
  }
  const problem = problemSchema.safeParse(parsed).data;
  if (problem === undefined) return '';
  const more = (problem.errors ?? []).map((one) =>
    typeof one === 'string' ? one : (one.message ?? [one.field, one.code].filter((word) => word != null).join(' ')),
  );
  return saidByHost([problem.message, ...more].filter((text) => text !== '').join('; '), token);
};

/** When a limit of requests ends, as GitHub says it; null: it does not. */
const limitEnds = ({ headers }: HostAnswer, nowMs: number): string | null => {
  const after = Number(headers['retry-after'] ?? Number.NaN);
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
  const at = Number.isFinite(after) ? nowMs + after * 1000 : reset * 1000;
  return Number.isFinite(at) && at > 0 && at < 8.64e15 ? new Date(at).toISOString() : null;
};

const isLimited = ({ status, headers }: HostAnswer, said: string): boolean =>
  status === 429 ||
  (status === 403 &&
    (headers['x-ratelimit-remaining'] === '0' || headers['retry-after'] !== undefined || /rate limit/i.test(said)));

const limited = (host: string, details: { readonly until: string | null }): OrreryError => {
  const until = details.until === null ? '' : ` (until ${details.until})`;
  return new OrreryError('rate_limited', `${host} takes no more requests of this token now${until}.`, {
    rule: 'What was begun is on record, and opens nothing twice.',
    fix: 'Run the same command again later.',
    details,
  });
};

/** What an answer that is no success means. `what`: what was asked, in words. */
export const problemOf = (
  answer: HostAnswer,
  { host, what, token, secret, nowMs }: { host: string; what: string; token: string; secret: string; nowMs: number },
): OrreryError => {
  const { status } = answer;
  const said = saidIn(answer.body, token);
  const details = { status, said };
  const asSaid = said === '' ? String(status) : `${status}: ${said}`;
  const setAgain = `orrery secret set ${secret}`;
  if (isLimited(answer, said)) return limited(host, { ...details, until: limitEnds(answer, nowMs) });
  if (status === 401)
    return hostRefused(`${host} does not know the token (${asSaid}).`, {
      rule: 'A token is one of the host’s, and not expired or revoked.',
      fix: setAgain,
      details,
    });
  if (status === 403 || status === 404)
    return hostRefused(`${host} does not let this token ${what} (${asSaid}).`, {
      rule: 'It needs the repository, with contents and pull requests to read and write.',
      fix: `Give it that at the host, or set another one: ${setAgain}`,
      details,
    });
  if (status >= 300 && status < 400)
    return hostRefused(`${host} sends the request to ${what} on to another address.`, {
      rule: 'The token goes to the address that the operator named, and nowhere else; a repository that was renamed is asked by its new name.',
      fix: 'Give the remote its new address: git remote set-url origin URL',
      details,
    });
  if (status >= 500) return hostUnreachable(host, new Error(`it answered ${asSaid}`), token);
  return hostRefused(`${host} refused to ${what} (${asSaid}).`, { details });
};
