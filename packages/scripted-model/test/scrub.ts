/** Takes everything out of a recorded dialogue that names the machine it was recorded on. */
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { PROGRAMS_ROOT } from './agent-programs.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const PORT = /127\.0\.0\.1:\d+/g;
const DATE = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** Replaces paths by `/place`, `/programs`; ids by numbered ones (the same id by the same); ports and times by fixed ones. */
export function createScrubber(place: { readonly root: string }): (text: string) => string {
  const ids = new Map<string, string>();
  const number = (id: string): string => {
    const known = ids.get(id) ?? `00000000-0000-4000-8000-${String(ids.size + 1).padStart(12, '0')}`;
    ids.set(id, known);
    return known;
  };
  const paths: readonly (readonly [string, string])[] = [
    [place.root, '/place'],
    [place.root.replaceAll(/[^A-Za-z0-9]/g, '-'), '-place'],
    [PROGRAMS_ROOT, '/programs'],
    [REPOSITORY, '/repository'],
  ];
  return (text) => {
    const moved = paths.reduce((done, [from, to]) => done.replaceAll(from, to), text);
    return moved.replaceAll(UUID, number).replaceAll(PORT, '127.0.0.1:4800').replaceAll(DATE, '2026-01-01T00:00:00.000Z');
  };
}

/** What in a text still names this machine. */
export function leaksIn(text: string): string[] {
  const forbidden = [
    hostname(),
    PROGRAMS_ROOT,
    REPOSITORY,
    homedir() === '/' ? '' : `${homedir()}/`,
    '/tmp/orrery',
    'orrery-agent-',
  ];
  return forbidden.filter((word) => word.length > 2 && text.includes(word));
}
