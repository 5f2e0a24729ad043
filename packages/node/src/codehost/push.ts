// A push by Git's own protocol over HTTP, spoken by the node itself: Git makes the pack out of the mirror and is never told
// the token, the address, or that there is a host. The host compares what a branch names with `before` and sets it in one
// step, which is what a lease is.
import type { OrreryError } from '@orrery/protocol/errors';
import { isSha } from '../git/names.ts';
import { knownCommits, writePack } from '../git/pack.ts';
import type { Git } from '../git/run.ts';
import type { PushWanted } from './codehost.ts';
import { PUSH_KNOWN, PUSH_MS, PUSH_PACK_BYTES, PUSH_REFS_BYTES, PUSH_REPORT_BYTES, PUSH_SILENCE_MS } from './limits.ts';
import { FLUSH, pktLine, readPktLines } from './pkt-line.ts';
import { hostRequest, type HostAnswer, type HostRequest } from './request.ts';
import { hostRefused, hostUnreachable, saidByHost } from './words.ts';

/** A repository as Git reaches it. `url` without `.git`. */
export type GitPlace = { readonly url: string; readonly token: string; readonly signal?: AbortSignal | undefined };

/** What a host says before a push: its refs, and what it can. */
export type Advertised = { readonly refs: ReadonlyMap<string, string>; readonly abilities: readonly string[] };

const agent = 'git/2.0 (orrery)';
const NONE = '0'.repeat(40);

const ask = async (place: GitPlace, asked: Omit<HostRequest, 'url' | 'headers'> & { path: string; type: string }) => {
  const { path, type, ...rest } = asked;
  const url = new URL(`${place.url}.git/${path}`);
  const authorization = `Basic ${Buffer.from(`x-access-token:${place.token}`).toString('base64')}`;
  const headers = { authorization, 'user-agent': agent, accept: `application/x-git-receive-pack-${type}` };
  const sent: Record<string, string> =
    asked.method === 'POST' ? { 'content-type': 'application/x-git-receive-pack-request' } : {};
  try {
    return await hostRequest({ ...rest, url, headers: { ...headers, ...sent }, signal: place.signal });
  } catch (thrown) {
    throw hostUnreachable(url.host, thrown, place.token);
  }
};

const checkStatus = ({ url, token }: GitPlace, { status, headers, body }: HostAnswer): void => {
  if (status === 200) return;
  const { host, pathname } = new URL(url);
  const what = pathname.slice(1);
  const said = saidByHost(body.toString('utf8').slice(0, 2_000), token);
  const details = { status, said };
  if (status >= 500) throw hostUnreachable(host, new Error(`it answered ${status}`), token);
  if (status >= 300 && status < 400)
    throw hostRefused(`${host} sends ${what} on to ${saidByHost(headers.location ?? 'another address', token)}.`, {
      rule: 'The token goes to the address that the operator named, and nowhere else.',
      fix: 'Give the remote its new address: git remote set-url origin URL',
      details,
    });
  throw hostRefused(`${host} does not take a push to ${what} (${status}${said.startsWith('<') ? '' : ` ${said}`}).`, {
    rule: 'The token must be valid and may write the contents of the repository.',
    fix: 'Give it that, or set another one: orrery secret set NAME',
    details,
  });
};

/** Reads the refs of a repository, as who may push sees them. */
export const readRefs = async (place: GitPlace): Promise<Advertised> => {
  const answer = await ask(place, {
    method: 'GET',
    path: 'info/refs?service=git-receive-pack',
    type: 'advertisement',
    timeoutMs: PUSH_SILENCE_MS,
    maxBytes: PUSH_REFS_BYTES,
  });
  checkStatus(place, answer);
  const refs = new Map<string, string>();
  let abilities: readonly string[] = [];
  try {
    const [service, end, ...lines] = readPktLines(answer.body);
    if (service?.toString('utf8').trim() !== '# service=git-receive-pack' || end !== null) throw new Error('it is no Git server');
    for (const [index, line] of lines.entries()) {
      const [text = '', can = ''] = (line?.toString('utf8') ?? '').replace(/\n$/, '').split('\0');
      if (index === 0) abilities = can.split(' ');
      const [sha, ref] = [text.slice(0, 40), text.slice(41)];
      if (isSha(sha) && sha !== NONE && ref !== '') refs.set(ref === '.have' ? `.have ${sha}` : ref, sha);
    }
  } catch (thrown) {
    throw notGit(place, thrown);
  }
  const format = abilities.find((one) => one.startsWith('object-format='));
  if (format !== undefined && format !== 'object-format=sha1')
    throw notGit(place, new Error(`its objects are named by ${format.slice(14)}`));
  return { refs, abilities };
};

const notGit = ({ url, token }: GitPlace, thrown: unknown): OrreryError =>
  hostRefused(`${url} does not answer as a Git server (${saidByHost(thrown instanceof Error ? thrown.message : '', token)}).`, {
    rule: 'Pushes go by Git’s protocol over HTTP to the repository that the remote names.',
    fix: 'Look at url and match of the code host: orrery config explain codehosts',
  });

/** What makes packs. */
export type Packing = { readonly git: Git; readonly folder: string; name(): string };

/** Sets one branch to a commit of a mirror. Rejects when the host does not take it; then nothing was set. */
export const pushBranch = async (packing: Packing, place: GitPlace, wanted: PushWanted): Promise<void> => {
  const ref = `refs/heads/${wanted.branch}`;
  const has = [...new Set(wanted.has)].slice(0, PUSH_KNOWN);
  const without = await knownCommits(packing.git, wanted.mirror, has);
  const pack = await writePack(packing.git, wanted.mirror, {
    ...{ sha: wanted.sha, without, folder: packing.folder, name: packing.name() },
  });
  try {
    if (pack.bytes > PUSH_PACK_BYTES)
      throw hostRefused(`The push would send ${pack.bytes} bytes.`, {
        rule: `One push sends at most ${PUSH_PACK_BYTES} bytes.`,
        fix: 'Take large files out of the commits.',
      });
    const asks = `report-status side-band-64k agent=orrery`;
    const command = pktLine(`${wanted.before ?? NONE} ${wanted.sha} ${ref}\0 ${asks}`);
    const answer = await ask(place, {
      method: 'POST',
      path: 'git-receive-pack',
      type: 'result',
      body: { beginning: command + FLUSH, file: pack.file, fileBytes: pack.bytes },
      timeoutMs: PUSH_MS,
      silenceMs: PUSH_SILENCE_MS,
      maxBytes: PUSH_REPORT_BYTES,
    });
    checkStatus(place, answer);
    checkReport(place, { report: answer.body, ref, branch: wanted.branch });
  } finally {
    await pack.drop();
  }
};

/** The report itself, and what hooks of the host said beside it. */
const readReport = (answer: Buffer): { lines: string[]; said: string } => {
  const lines = readPktLines(answer).filter((line) => line !== null);
  if (lines.every((line) => (line[0] ?? 0) > 3)) return { lines: lines.map((line) => line.toString('utf8').trim()), said: '' };
  const band = (number: number): Buffer =>
    Buffer.concat(lines.filter((line) => line[0] === number).map((line) => line.subarray(1)));
  const report = readPktLines(band(1)).flatMap((line) => (line === null ? [] : [line.toString('utf8').trim()]));
  return { lines: report, said: Buffer.concat([band(2), band(3)]).toString('utf8') };
};

const checkReport = (place: GitPlace, { report, ref, branch }: { report: Buffer; ref: string; branch: string }): void => {
  const { host } = new URL(place.url);
  let read: ReturnType<typeof readReport>;
  try {
    read = readReport(report);
  } catch (thrown) {
    throw hostUnreachable(host, thrown, place.token);
  }
  const { lines, said } = read;
  if (lines[0] === 'unpack ok' && lines.includes(`ok ${ref}`)) return;
  const refused = lines.find((line) => line.startsWith(`ng ${ref} `))?.slice(`ng ${ref} `.length);
  if (refused === undefined && (lines[0] ?? 'unpack ok') === 'unpack ok')
    throw hostUnreachable(host, new Error('it did not say what became of the push'), place.token);
  const why = saidByHost(refused ?? lines[0] ?? '', place.token);
  throw hostRefused(`${host} does not take the branch ${branch} (${why}).`, {
    rule: saidByHost(said, place.token) || 'A branch is set only from what it named when it was looked at.',
    fix: 'Run the same command again; where the host protects the branch, choose another: orrery task pr TASK --branch NAME',
    details: { reason: why },
  });
};
