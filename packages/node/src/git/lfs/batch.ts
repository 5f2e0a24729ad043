import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { LFS_ANSWER_BYTES } from '../limits.ts';
import type { Pointer } from './pointer.ts';
import { lfsRequest, type LfsNet } from './request.ts';
import { lfsRefused } from './server.ts';

const headersSchema = z.record(z.string(), z.string().max(16_384));

const answerSchema = z.object({
  transfer: z.string().optional(),
  objects: z.array(
    z.object({
      oid: z.string(),
      size: z.number().optional(),
      actions: z.object({ download: z.object({ href: z.string(), header: headersSchema.optional() }).optional() }).optional(),
      error: z.object({ code: z.number().optional(), message: z.string().optional() }).optional(),
    }),
  ),
});

/** Where one object is to be had. */
export type Download = Pointer & { readonly url: URL; readonly headers: Readonly<Record<string, string>> };

/** Who asks. `credentials` is asked for once a server wants them, and not before. */
export type Asking = { readonly url: URL; readonly net: LfsNet; readonly credentials: () => Promise<string | null> };

const mediaType = 'application/vnd.git-lfs+json';
const rule = 'The server that the remote names must give every file that the commit has in LFS.';

/** Reads a whole answer within its bound. */
export const readAnswer = async (answer: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LFS_ANSWER_BYTES) throw new Error(`it answered more than ${LFS_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** Asks the server where objects are. Rejects with `repository_unusable` when it does not say so of each. */
export const askForObjects = async (asking: Asking, objects: readonly Pointer[]): Promise<readonly Download[]> => {
  const { url } = asking;
  const first = await post(asking, objects, null);
  const refused = first.statusCode === 401 || first.statusCode === 403;
  if (refused) first.destroy();
  const authorization = refused ? await asking.credentials() : null;
  if (refused && authorization === null)
    throw lfsRefused(`${url.host} wants credentials`, 'Your Git credential helper has none for it: git credential fill');
  const answer = refused ? await post(asking, objects, authorization) : first;
  if (answer.statusCode !== 200) {
    answer.destroy();
    throw lfsRefused(`${url.host} answered ${answer.statusCode} to the request for ${objects.length} objects`, rule);
  }
  const text = await readAnswer(answer).catch((thrown: unknown) => {
    throw lfsRefused(`${url.host} broke off its answer`, rule, thrown);
  });
  return readDownloads(asking, { objects, text, authorization });
};

const post = ({ url, net }: Asking, objects: readonly Pointer[], authorization: string | null): Promise<IncomingMessage> =>
  lfsRequest(net, {
    url: new URL(`${url.href}/objects/batch`),
    method: 'POST',
    headers: { accept: mediaType, 'content-type': mediaType, ...(authorization === null ? {} : { authorization }) },
    body: JSON.stringify({
      operation: 'download',
      transfers: ['basic'],
      hash_algo: 'sha256',
      objects: objects.map(({ oid, size }) => ({ oid, size })),
    }),
  }).catch((thrown: unknown) => {
    throw lfsRefused(
      `${url.host} cannot be reached (${thrown instanceof Error ? thrown.message : String(thrown)})`,
      rule,
      thrown,
    );
  });

const readDownloads = (
  { url }: Asking,
  { objects, text, authorization }: { objects: readonly Pointer[]; text: string; authorization: string | null },
): readonly Download[] => {
  let parsed: z.output<typeof answerSchema>;
  try {
    parsed = answerSchema.parse(JSON.parse(text));
  } catch (thrown) {
    throw lfsRefused(`${url.host} does not answer as a Git LFS server`, rule, thrown);
  }
  if ((parsed.transfer ?? 'basic') !== 'basic') throw lfsRefused(`${url.host} offers another transfer than "basic"`, rule);
  const byOid = new Map(parsed.objects.map((object) => [object.oid, object]));
  return objects.map((pointer) => {
    const found = byOid.get(pointer.oid);
    const action = found?.actions?.download;
    if (found?.error !== undefined || action === undefined || !URL.canParse(action.href))
      throw lfsRefused(`${url.host} does not have the object ${pointer.oid.slice(0, 12)}… of ${pointer.size} bytes`, rule);
    const target = new URL(action.href);
    const given = Object.fromEntries(Object.entries(action.header ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
    // The operator's own go to the server alone, wherever it sends on to.
    const own: Record<string, string> =
      authorization !== null && target.host === url.host && given['authorization'] === undefined ? { authorization } : {};
    return { ...pointer, url: target, headers: { ...given, ...own } };
  });
};
