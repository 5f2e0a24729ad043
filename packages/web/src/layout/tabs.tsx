import { useQuery } from '@tanstack/react-query';
import { visible } from '../review/inert.ts';
import { node } from '../state/node.ts';
import type { LayoutHands } from './use-layout.ts';

/** The tabs, where there are some. */
export const Tabs = ({ layout, choose, close }: Pick<LayoutHands, 'layout' | 'choose' | 'close'>) =>
  layout.tabs.length < 2 ? null : (
    <nav aria-label="Tabs" className="flex h-8 shrink-0 items-end gap-1 overflow-x-auto border-b border-line">
      {layout.tabs.map(({ path, beside }, place) => (
        <span
          key={place}
          className={`flex h-7 max-w-60 min-w-24 items-center rounded-t border border-b-0 border-line ${place === layout.at ? 'bg-raised' : 'text-quiet'}`}
        >
          <button
            type="button"
            aria-current={place === layout.at ? 'page' : undefined}
            className="h-full flex-1 cursor-pointer truncate px-2 text-left"
            onClick={() => choose(place)}
          >
            <Title path={path} />
            {beside === null ? null : ' | '}
            {beside === null ? null : <Title path={beside} />}
          </button>
          <button
            type="button"
            aria-label={`Close tab ${place + 1}`}
            className="h-full cursor-pointer px-1.5"
            onClick={() => close(place)}
          >
            ×
          </button>
        </span>
      ))}
    </nav>
  );

/** The page of an address in a few words. */
export const Title = ({ path }: { readonly path: string }) => {
  const [, kind = '', id = ''] = path.split(/[/?#]/);
  const { data: sessions } = useQuery({
    queryKey: ['sessions'],
    queryFn: () => node.call('sessionList', { query: { limit: 200 } }),
    enabled: kind === 'sessions' && id !== '',
  });
  const { data: tasks } = useQuery({
    queryKey: ['tasks'],
    queryFn: () => node.call('taskList', { query: { limit: 100 } }),
    enabled: kind === 'tasks' && id !== '',
  });
  const name =
    sessions?.items.find((one) => one.id === id)?.name ?? tasks?.items.find((one) => one.id === id)?.prompt.slice(0, 40) ?? id;
  if (kind === '') return 'Inbox';
  const head = `${kind.slice(0, 1).toUpperCase()}${kind.slice(1)}`;
  return name === '' ? head : `${head}: ${visible(decodeURIComponent(name))}`;
};
