import { createMemoryHistory, Outlet, RouterProvider } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { makeRouter } from '../routes.tsx';
import { Title } from './tabs.tsx';

/** Narrower than this, two pages have no room beside each other, px. */
const WIDE = '(min-width: 900px)';

type BesideProps = { readonly path: string; readonly change: (path: string | null) => void };

const Alone = () => <Outlet />;

/** A second page beside the first, with an address of its own. */
export const Beside = ({ path, change }: BesideProps) => {
  const isWide = useMedia(WIDE);
  const [router] = useState(() => makeRouter(Alone, createMemoryHistory({ initialEntries: [path] })));
  const tell = useRef(change);
  tell.current = change;
  useEffect(() => router.subscribe('onResolved', ({ toLocation }) => tell.current(toLocation.href)), [router]);
  if (!isWide) return null;
  return (
    <section
      aria-label="Beside"
      className="flex h-[calc(100dvh-var(--head)-0.75rem-var(--tabs,0px))] min-w-0 flex-1 flex-col overflow-y-auto pt-3 border-l border-line pl-3"
    >
      <div className="flex items-center gap-2 text-quiet">
        <span className="truncate">
          <Title path={path} />
        </span>
        <a href={path} className="ml-auto text-accent underline">
          Its own page
        </a>
        <button type="button" aria-label="Nothing beside" className="cursor-pointer px-1.5" onClick={() => change(null)}>
          ×
        </button>
      </div>
      <RouterProvider router={router} />
    </section>
  );
};

const useMedia = (query: string): boolean => {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const look = (): void => setHolds(media.matches);
    media.addEventListener('change', look);
    return () => media.removeEventListener('change', look);
  }, [query]);
  return holds;
};
