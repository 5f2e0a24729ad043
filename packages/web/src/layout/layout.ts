// Glossary. A tab is a page that one comes back to, and what stands beside it. The layout is all tabs of a person in this
// browser and which of them is shown. Without tabs there is one page, as everywhere.

/** Tabs that are kept. */
const MAX_TABS = 20;
/** Signs of an address. */
const MAX_PATH_CHARS = 2_000;
const KEY = 'orrery.layout';

export type Tab = { readonly path: string; readonly beside: string | null };
export type Layout = { readonly tabs: readonly Tab[]; readonly at: number };

export const noTabs: Layout = { tabs: [], at: 0 };

/** With the page of the shown tab, or of what stands beside it, at another address. */
export const moved = (layout: Layout, change: Partial<Tab>): Layout => ({
  ...layout,
  tabs: layout.tabs.map((tab, place) => (place === layout.at ? { ...tab, ...change } : tab)),
});

/** With one more tab behind the shown one, which it becomes; the page that was shown without tabs becomes the first. */
export const opened = (layout: Layout, path: string, here: string): Layout => {
  const tabs = layout.tabs.length === 0 ? [{ path: here, beside: null }] : layout.tabs;
  if (tabs.length >= MAX_TABS) return layout;
  const at = layout.at + 1;
  return { tabs: tabs.toSpliced(at, 0, { path, beside: null }), at };
};

/** Without one tab; the last one that is left is no tab any more unless something stands beside it. */
export const closed = (layout: Layout, place: number): Layout => {
  const tabs = layout.tabs.toSpliced(place, 1);
  if (tabs.length === 0 || (tabs.length === 1 && tabs[0]?.beside === null)) return noTabs;
  return { tabs, at: Math.min(tabs.length - 1, place < layout.at ? layout.at - 1 : layout.at) };
};

/** With something beside the shown page, or nothing. */
export const split = (layout: Layout, beside: string | null, here: string): Layout => {
  const all = layout.tabs.length === 0 ? { tabs: [{ path: here, beside: null }], at: 0 } : layout;
  const next = moved(all, { beside });
  return next.tabs.length === 1 && beside === null ? noTabs : next;
};

/** Some tabs on, or back; round at the ends. */
export const stepped = (layout: Layout, step: 1 | -1): Layout =>
  layout.tabs.length === 0 ? layout : { ...layout, at: (layout.at + step + layout.tabs.length) % layout.tabs.length };

/** An address of a page of this client, and nothing else. */
const isPath = (value: unknown): value is string =>
  typeof value === 'string' && /^\/(?!\/)/.test(value) && value.length <= MAX_PATH_CHARS && !value.startsWith('/login');

/** What was kept; what does not read is left out. */
export const readLayout = (storage: Pick<Storage, 'getItem'>): Layout => {
  try {
    const { tabs, at } = (JSON.parse(storage.getItem(KEY) ?? 'null') ?? {}) as { tabs?: unknown; at?: unknown };
    const kept = (Array.isArray(tabs) ? (tabs as (Partial<Tab> | null)[]) : [])
      .filter((tab) => isPath(tab?.path))
      .map((tab) => ({ path: tab?.path ?? '/', beside: isPath(tab?.beside) ? tab.beside : null }))
      .slice(0, MAX_TABS);
    if (kept.length === 0) return noTabs;
    return { tabs: kept, at: Number.isInteger(at) ? Math.max(0, Math.min(kept.length - 1, Number(at))) : 0 };
  } catch {
    return noTabs;
  }
};

/** Keeps it. A browser that keeps nothing has it until the page is left. */
export const keepLayout = (storage: Pick<Storage, 'setItem' | 'removeItem'>, layout: Layout): void => {
  try {
    if (layout.tabs.length === 0) storage.removeItem(KEY);
    else storage.setItem(KEY, JSON.stringify(layout));
  } catch {
    // Full, or switched off by its owner.
  }
};
