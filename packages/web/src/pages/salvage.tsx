import type { Salvage } from '@orrery/protocol';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Ago } from '../parts/ago.tsx';
import { Answer } from '../parts/answer.tsx';
import { Button } from '../parts/button.tsx';
import { NodePage } from '../parts/node-page.tsx';
import { Empty, Failed } from '../parts/states.tsx';
import { Sure } from '../parts/sure.tsx';
import { visible } from '../review/inert.ts';
import { bytesText } from '../state/bytes.ts';
import { useIsOwner, useMayAct } from '../state/caller.ts';
import { node } from '../state/node.ts';

/** Work that was saved before something was removed. */
export const SalvagePage = () => {
  const query = useInfiniteQuery({
    queryKey: ['salvage'],
    initialPageParam: '',
    queryFn: ({ pageParam }) => node.call('salvageList', { query: pageParam === '' ? {} : { cursor: pageParam } }),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  return (
    <NodePage name="Saved work" command="orrery salvage list">
      <Answer query={query}>
        {({ pages }) =>
          pages[0]?.items.length === 0 ? (
            <Empty>Nothing had to be saved. When something unsaved would be lost it is kept here.</Empty>
          ) : (
            <ul>{pages.flatMap(({ items }) => items.map((one) => <Saved key={one.id} one={one} />))}</ul>
          )
        }
      </Answer>
      {query.hasNextPage ? (
        <Button disabled={query.isFetching} onClick={() => void query.fetchNextPage()}>
          Older ones
        </Button>
      ) : null}
    </NodePage>
  );
};

const sizeOf = ({ kind, bytes, files }: Salvage): string =>
  kind === 'archive' ? `an archive${bytes === null ? '' : ` of ${bytesText(bytes)}`}` : `${files ?? 'some'} files`;

const Saved = ({ one }: { readonly one: Salvage }) => {
  const [open, setOpen] = useState(false);
  return (
    <li className="border-b border-line py-1">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="flex cursor-pointer flex-wrap items-baseline gap-x-3">
          <span className="font-semibold">{visible(one.projectName)}</span>
          <span>{sizeOf(one)}</span>
          <span className="said text-quiet">{visible(one.reason)}</span>
          <span className="ml-auto">
            <Ago at={one.createdAt} />
          </span>
        </summary>
        {open ? <Opened one={one} /> : null}
      </details>
    </li>
  );
};

const Opened = ({ one }: { readonly one: Salvage }) => {
  const query = useQuery({
    queryKey: ['salvage', one.id],
    queryFn: () => node.call('salvageShow', { params: { id: one.id } }),
  });
  const mayAct = useMayAct();
  return (
    <>
      <Answer query={query}>
        {({ paths }) => (
          <ul className="my-1 max-h-60 overflow-auto rounded bg-raised px-3 py-2 font-mono" tabIndex={0} aria-label="Its files">
            {paths.map((path) => (
              <li key={path} className="said">
                {visible(path)}
              </li>
            ))}
          </ul>
        )}
      </Answer>
      <p className="said text-quiet">{one.ref ?? one.id}</p>
      {mayAct && one.kind === 'commit' ? <Restore id={one.id} /> : null}
      {one.kind === 'archive' ? <code className="font-mono">{`orrery salvage restore ${one.id} --folder FOLDER`}</code> : null}
      <Remove id={one.id} />
    </>
  );
};

/** A branch of the repository; nothing that is checked out is touched. */
const Restore = ({ id }: { readonly id: string }) => {
  const [branch, setBranch] = useState('');
  const restore = useMutation({
    mutationFn: () =>
      node.call('salvageRestore', { params: { id }, body: branch.trim() === '' ? {} : { branch: branch.trim() } }),
  });
  return (
    <form
      className="my-1 flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        restore.mutate();
      }}
    >
      <input
        aria-label="Branch"
        placeholder="name of the branch"
        value={branch}
        onChange={({ target }) => setBranch(target.value)}
        className="h-7 rounded border border-line bg-ground px-2"
      />
      <Button look="main" type="submit" disabled={restore.isPending}>
        Bring it back as a branch
      </Button>
      {restore.data === undefined ? null : (
        <span role="status" className="text-good">
          ✓ it is on {restore.data.branch}
        </span>
      )}
      {restore.error === null ? null : <Failed error={restore.error} />}
    </form>
  );
};

const Remove = ({ id }: { readonly id: string }) => {
  const queries = useQueryClient();
  const owner = useIsOwner();
  const remove = useMutation({
    mutationFn: () => node.call('salvageDelete', { params: { id } }),
    onSettled: () => void queries.invalidateQueries(),
  });
  if (!owner) return null;
  return (
    <>
      <Sure name="Delete" says="It is gone for good." disabled={remove.isPending} act={() => remove.mutate()} />
      {remove.error === null ? null : <Failed error={remove.error} />}
    </>
  );
};
