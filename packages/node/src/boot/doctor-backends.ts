import type { BackendView, DoctorReport } from '@orrery/protocol';
import type { Config } from '../config/config.ts';
import { listNamed, openEnvironments } from '../environment/index.ts';
import type { Store } from '../store/store.ts';
import type { Backends } from './backends.ts';

type Line = DoctorReport['lines'][number];

/** Backends that hold an environment now, or are to again. */
export const backendsInUse = async (store: Pick<Store, 'read'>): Promise<ReadonlySet<string>> => {
  const rows = [...(await openEnvironments(store.read)), ...(await listNamed(store.read))];
  return new Set(rows.map(({ backend }) => backend));
};

/**
 * What is to be said of the backends. One that cannot be used here is worth a warning when somebody asked for it: by the
 * configuration, or because something is on it. The others are named in one line.
 */
export const backendLines = async (
  { backends, config }: { readonly backends: Pick<Backends, 'views'>; readonly config: Pick<Config, 'current'> },
  inUse: ReadonlySet<string>,
): Promise<Line[]> => {
  const { options, allowedBackends } = config.current().execution;
  const asked = new Set([...Object.keys(options), ...(allowedBackends ?? []), ...inUse]);
  const isAsked = ({ name, aliases, isDefault }: BackendView): boolean =>
    isDefault || [name, ...aliases].some((one) => asked.has(one));
  const views = await backends.views();
  const quiet = views.filter((view) => !view.usable && !isAsked(view));
  const lines = views.filter((view) => !quiet.includes(view)).map(lineOf);
  if (quiet.length === 0) return lines;
  const message = `Not set up, and not asked for: ${quiet.map(({ name }) => name).join(', ')}. How to: orrery backend check NAME`;
  return [...lines, { area: 'backends', state: 'ok', message, fix: null }];
};

const lineOf = (view: BackendView): Line => {
  const area = `backend ${view.name}`;
  if (!view.usable)
    return {
      area,
      state: view.isDefault ? 'problem' : 'warning',
      message: view.problem ?? 'It cannot be used here.',
      fix: view.fix,
    };
  const missing = view.guarantees
    .filter(({ held }) => !held)
    .map(({ guarantee, missing: why }) => `${guarantee}${why === null ? '' : ` (${why})`}`);
  if (missing.length === 0) return { area, state: 'ok', message: 'Every guarantee holds on this machine.', fix: null };
  return {
    area,
    state: view.isDefault ? 'warning' : 'ok',
    message: `Not guaranteed: ${missing.join(', ')}.`,
    fix: 'orrery selftest sandbox',
  };
};
