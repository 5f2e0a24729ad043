import { Link } from '@tanstack/react-router';

export const nodePages = [
  { to: '/node', name: 'Node' },
  { to: '/agents', name: 'Agents' },
  { to: '/backends', name: 'Backends' },
  { to: '/policies', name: 'Policies' },
  { to: '/usage', name: 'Usage' },
  { to: '/salvage', name: 'Saved work' },
  { to: '/audit', name: 'Audit' },
  { to: '/access', name: 'Access' },
  { to: '/settings', name: 'Settings' },
] as const;

/** One of the pages of what the node has, with the way to the others and its line for a terminal. */
export const NodePage = ({
  name,
  command,
  children,
}: {
  readonly name: (typeof nodePages)[number]['name'];
  readonly command: string;
  readonly children: React.ReactNode;
}) => (
  <>
    <nav aria-label="Pages of the node" className="-mx-1 mb-2 flex flex-wrap gap-x-1 border-b border-line pb-2">
      {nodePages.map((page) => (
        <Link
          key={page.to}
          to={page.to}
          className="rounded px-2 py-1 text-quiet hover:text-ink"
          activeProps={{ className: 'bg-raised !text-ink', 'aria-current': 'page' }}
        >
          {page.name}
        </Link>
      ))}
      <code className="ml-auto hidden self-center font-mono text-quiet md:inline">{command}</code>
    </nav>
    <h1 className="sr-only">{name}</h1>
    {children}
  </>
);
