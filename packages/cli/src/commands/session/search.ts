import type { SearchHit } from '@orrery/protocol';
import { inert, inertLine } from '../../inert.ts';
import type { Screen } from '../../screen.ts';
import { agoText } from '../../wording.ts';
import type { Command } from '../command.ts';

const KINDS = { user: 'you', text: 'agent', 'tool.call': 'tool' } as const;

/** One place: where it is, then the words around it, what was found in bold. */
const hitText = (screen: Screen, hit: SearchHit, nowMs: number): string => {
  const words = hit.snippet.map(({ text, found }) => {
    const shown = inert(text).replace(/\s+/g, ' ');
    return found ? screen.bold(shown) : shown;
  });
  const place = `${inertLine(hit.session.name)} · event ${hit.sequence} · ${KINDS[hit.kind]} · ${agoText(hit.at, nowMs)}`;
  return `  ${screen.dim(place)}\n    ${words.join('').trim()}`;
};

/** `orrery session search`. */
export const sessionSearch: Command = async ({ connect, input, screen, world }) => {
  const { client } = await connect();
  const text = (name: string): string | undefined => input.text(name) ?? undefined;
  const [session, project, cursor] = [text('session'), text('project'), text('cursor')];
  const page = await client.call('sessionSearch', {
    query: {
      q: input.argument('words') ?? '',
      limit: input.number('limit') ?? 20,
      ...(session === undefined ? {} : { session }),
      ...(project === undefined ? {} : { project }),
      ...(cursor === undefined ? {} : { cursor }),
    },
  });
  if (page.items.length === 0)
    return { result: page, text: 'No session says that. Fewer words find more; word* finds beginnings.' };
  return {
    result: page,
    text: page.items.map((hit) => hitText(screen, hit, world.now())).join('\n'),
    hints: page.nextCursor === null ? [] : [`  There are older ones: --cursor ${page.nextCursor}`],
  };
};
