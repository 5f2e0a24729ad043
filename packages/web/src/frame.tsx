import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { Everywhere } from './commands/everywhere.tsx';
import { Beside } from './layout/beside.tsx';
import { Tabs } from './layout/tabs.tsx';
import { useLayout, type LayoutHands } from './layout/use-layout.ts';
import { nodePages } from './parts/node-page.tsx';
import { useConnection } from './state/live.ts';
import { useOpenAsks, useTellingNeeds } from './state/needs.ts';
import { node } from './state/node.ts';

const links = [
  { to: '/', name: 'Inbox', key: 'i' },
  { to: '/sessions', name: 'Sessions', key: 's' },
  { to: '/tasks', name: 'Tasks', key: 't' },
  { to: '/environments', name: 'Environments', key: 'e' },
  { to: '/node', name: 'Node', key: 'o' },
] as const;

/** What stands around every page. */
export const Frame = () => {
  const { pathname } = useLocation();
  return pathname === '/login' ? <Outlet /> : <Framed />;
};

const Framed = () => {
  const connection = useConnection();
  // A change or a terminal needs the room that reading does not.
  const { pathname } = useLocation();
  const hands = useLayout();
  const { tabs, at } = hands.layout;
  const wide = tabs[at]?.beside != null || pathname.endsWith('/changes') || pathname.startsWith('/terminals/');
  const { data: caller } = useQuery({ queryKey: ['caller'], queryFn: () => node.call('callerShow') });
  const { data: waiting } = useOpenAsks();
  useTellingNeeds();
  const open = waiting?.items.length ?? 0;
  return (
    <div
      style={{ '--tabs': tabs.length > 1 ? '2rem' : '0px' } as React.CSSProperties}
      className={`mx-auto flex min-h-dvh flex-col px-3 ${wide ? '' : 'max-w-6xl'}`}
    >
      <header className="sticky top-0 z-10 flex h-(--head) flex-wrap content-center items-center gap-x-1 border-b border-line bg-ground">
        <span className="mr-3 font-semibold">Orrery</span>
        <nav aria-label="Pages" className="order-last flex w-full min-w-0 overflow-x-auto sm:order-none sm:w-auto sm:gap-1">
          {links.map(({ to, name }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: to === '/' }}
              className="flex shrink-0 items-baseline rounded px-2 py-1 text-quiet hover:text-ink"
              activeProps={{ className: 'bg-raised !text-ink', 'aria-current': 'page' }}
            >
              {name}
              {to === '/' && open > 0 ? <span className="ml-1 font-semibold text-careful">{open}</span> : null}
            </Link>
          ))}
        </nav>
        <span className="ml-auto shrink-0">
          <Everywhere links={[...links, ...nodePages.slice(1)]} />
        </span>
        <span className="shrink-0 text-quiet" role="status">
          {connection === 'lost' ? (
            <span className="text-careful">! not connected: what is shown may be old</span>
          ) : (
            caller?.scope
          )}
        </span>
      </header>
      <Tabs {...hands} />
      <Columns {...hands} />
    </div>
  );
};

/** The page, and what stands beside it. */
const Columns = ({ layout, beside }: LayoutHands) => {
  const second = layout.tabs[layout.at]?.beside ?? null;
  return (
    <div className={`flex flex-1 gap-3 ${second === null ? '' : 'items-start'}`}>
      <main className="flex min-w-0 flex-1 flex-col self-stretch py-3">
        <Outlet />
      </main>
      {second === null ? null : <Beside key={layout.at} path={second} change={beside} />}
    </div>
  );
};
