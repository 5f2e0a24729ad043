import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useCommands } from '../commands/use-commands.ts';
import { closed, keepLayout, moved, opened, readLayout, split, stepped, type Layout } from './layout.ts';

export type LayoutHands = {
  readonly layout: Layout;
  readonly choose: (place: number) => void;
  readonly close: (place: number) => void;
  /** What stands beside is at another page now; null: nothing stands there any more. */
  readonly beside: (path: string | null) => void;
};

/** Tabs and what stands beside, as they are kept in this browser. Only what a person does changes which is shown. */
export const useLayout = (): LayoutHands => {
  const [layout, setLayout] = useState(() => readLayout(localStorage));
  const { href } = useLocation();
  const navigate = useNavigate();
  const put = (next: Layout): void => {
    keepLayout(localStorage, next);
    setLayout(next);
    const shown = next.tabs[next.at];
    if (shown !== undefined && shown.path !== href) void navigate({ href: shown.path });
  };
  useEffect(() => {
    setLayout((was) => {
      const next = moved(was, { path: href });
      keepLayout(localStorage, next);
      return next;
    });
  }, [href]);
  const hasTabs = (): boolean => layout.tabs.length > 1;
  const isSplit = (): boolean => layout.tabs[layout.at]?.beside != null;
  useCommands([
    { id: 'tab open', does: 'new tab', group: 'Layout', keys: 't n', run: () => put(opened(layout, '/', href)) },
    {
      id: 'tab close',
      does: 'close this tab',
      group: 'Layout',
      keys: 't w',
      when: hasTabs,
      run: () => put(closed(layout, layout.at)),
    },
    { id: 'tab next', does: 'next tab', group: 'Layout', keys: ']', when: hasTabs, run: () => put(stepped(layout, 1)) },
    { id: 'tab before', does: 'tab before', group: 'Layout', keys: '[', when: hasTabs, run: () => put(stepped(layout, -1)) },
    { id: 'split', does: 'put this page beside, too', group: 'Layout', keys: 't s', run: () => put(split(layout, href, href)) },
    {
      id: 'unsplit',
      does: 'nothing beside',
      group: 'Layout',
      keys: 't c',
      when: isSplit,
      run: () => put(split(layout, null, href)),
    },
  ]);
  return {
    layout,
    choose: (at) => put({ ...layout, at }),
    close: (place) => put(closed(layout, place)),
    beside: (path) => put(path === null ? split(layout, null, href) : moved(layout, { beside: path })),
  };
};
