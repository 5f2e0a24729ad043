// What a conversation changed, and going back in it.

import type { ChangedFile, FileChange, SessionView } from '@orrery/protocol';
import { toOrreryError } from '@orrery/protocol/errors';
import { momentText, REWIND_PATIENCE_MS, whereText } from '../../moments.ts';
import { agoText } from '../../wording.ts';
import type { CommandContext } from '../command.ts';
import { cutCells, visible } from './cells.ts';
import { diffLine } from './diff-lines.ts';
import type { NodeLink } from './node-link.ts';
import type { Item } from './transcript.ts';

/** Lines of a change that are printed at once; files and moments that are listed. */
const DIFF_LINES = 500;
const LISTED = 50;
type Doing = {
  readonly context: CommandContext;
  readonly link: Pick<NodeLink, 'client'>;
  readonly session: () => SessionView;
};

const countText = ({ insertions, deletions }: Pick<ChangedFile, 'insertions' | 'deletions'>): string =>
  insertions === null || deletions === null ? 'no text' : `+${insertions} -${deletions}`;

const more = (all: readonly unknown[], shown: number): string[] =>
  all.length > shown ? [`    … ${all.length - shown} more: in the web client, or in its checkout`] : [];

/** The files that were changed since the base, or what was changed in one of them. */
export const diffText = async ({ context, link, session }: Doing, file: string | null): Promise<string[]> => {
  const { columns } = context.world.stdout;
  const { id } = session();
  const client = link.client();
  const changes = await client.call('sessionChanges', { params: { id }, query: {}, timeoutMs: REWIND_PATIENCE_MS });
  const { files } = changes;
  const cut = (lines: readonly string[]): string[] => lines.map((line) => cutCells(line, columns));
  if (files.length === 0) return ['', '  Nothing was changed since its base.'];
  const chosen = file === null ? (files.length === 1 ? files[0] : undefined) : fileNamed(files, file);
  if (chosen === undefined)
    return cut([
      '',
      ...(file === null ? [] : [`  No one file that was changed is called ${visible(file)}.`]),
      `  ${changes.filesChanged} files, +${changes.insertions} -${changes.deletions} since its base`,
      ...files.slice(0, LISTED).map((one) => `    ${visible(one.status)} ${visible(one.path)}  ${countText(one)}`),
      ...more(files, LISTED),
      ...changes.notes.map((note) => `  ${visible(note)}`),
      '  /diff FILE shows one.',
    ]);
  const { path, oldPath } = chosen;
  const query = { look: changes.look, path, ...(oldPath === null ? {} : { oldPath }) };
  const change = await client.call('sessionChange', { params: { id }, query });
  return ['', ...cut([`  ${visible(path)}  ${countText(chosen)}`]), ...hunkLines(change, { screen: context.screen, columns })];
};

/** A file by its path, or by the end of it where only one ends so. */
const fileNamed = (files: readonly ChangedFile[], name: string): ChangedFile | undefined => {
  const ends = files.filter(({ path }) => path.endsWith(`/${name}`));
  return files.find(({ path }) => path === name) ?? (ends.length === 1 ? ends[0] : undefined);
};

const hunkLines = ({ binary, hunks, truncated }: FileChange, look: Parameters<typeof diffLine>[1]): string[] => {
  if (binary) return ['    It is no text.'];
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, section, lines: changed }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@ ${section}`.trimEnd(),
    ...changed,
  ]);
  const cutOff = truncated ? ['    … the rest of it is too long to be shown here'] : [];
  return [...lines.slice(0, DIFF_LINES).map((line) => diffLine(line, look)), ...more(lines, DIFF_LINES), ...cutOff];
};

/** The moments that a conversation can go back to, newest first. */
export const momentLines = async ({ context, link, session }: Doing): Promise<string[]> => {
  const { items } = await link.client().call('sessionCheckpoints', { params: { id: session().id } });
  if (items.length === 0) return ['', '  Nothing is saved yet; it is before each turn.'];
  const lines = items.slice(0, LISTED).map((one) => {
    const to = one.kind === 'turn' && one.turn !== null ? String(one.turn) : one.id;
    return `    /rewind ${to}  ${momentText(one)}, ${agoText(one.createdAt, context.world.now())}`;
  });
  return ['', ...lines, ...more(items, LISTED)].map((line) => cutCells(line, context.world.stdout.columns));
};

/** Takes files and conversation back; says what came of it, and how to come here again. */
export const goBack = async ({ context, link, session }: Doing, to: string): Promise<Item[]> => {
  const { id } = session();
  const notice = (level: 'info' | 'error', text: string): Item => ({ kind: 'notice', level, text });
  try {
    const { checkpoint, before, saved, replaced } = await context.change({
      intent: { session: id, to, what: 'both' },
      send: () =>
        link.client().call('sessionRewind', { params: { id }, body: { to, what: 'both' }, timeoutMs: REWIND_PATIENCE_MS }),
      resources: (done) => [done.session.id, done.before.id],
    });
    return [
      notice('info', `Files and conversation are as ${whereText(checkpoint)}. Back to how it was: /rewind ${before.id}`),
      ...(replaced ? [notice('info', 'Its program begins a new conversation with a record of what is kept.')] : []),
      ...saved.map((ref) => notice('info', `What nothing else had is saved as ${ref}.`)),
    ];
  } catch (thrown) {
    return [notice('error', toOrreryError(thrown).toLines().join('\n'))];
  }
};

/** Begins another session from a place in this one; null: behind its last turn that is over. Rejects with why not. */
export const fork = ({ context, link, session }: Doing, at: string | null): Promise<SessionView> => {
  const { id } = session();
  const body = at === null ? {} : { at };
  return context.change({
    intent: { fork: id, ...body },
    send: (requestId) =>
      link.client().call('sessionFork', {
        params: { id },
        body: { ...body, requestId },
        idempotencyKey: requestId,
        timeoutMs: REWIND_PATIENCE_MS,
      }),
    resources: (made) => [made.id],
  });
};
