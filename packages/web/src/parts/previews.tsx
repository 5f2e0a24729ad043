import type { PreviewLink } from '@orrery/protocol';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { node } from '../state/node.ts';
import { Button } from './button.tsx';
import { Failed } from './states.tsx';

const MOST_PORT = 65_535;

/** Ports of an environment, each opened in a window of its own: what a program shows there has an address of its own. */
export const Previews = ({ environment }: { readonly environment: string }) => {
  const [port, setPort] = useState('');
  // A task is no environment of its own: it has no named ports.
  const { data } = useQuery({
    queryKey: ['environment', environment],
    queryFn: () => node.call('environmentShow', { params: { id: environment } }),
    enabled: !environment.startsWith('tsk_'),
    retry: false,
  });
  const open = useMutation({
    mutationFn: (wanted: number) => node.call('previewOpen', { params: { id: environment, port: wanted }, body: {} }),
  });
  const number = Number(port);
  const link = open.data;
  return (
    <form
      aria-label="Previews"
      className="flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (Number.isInteger(number) && number > 0 && number <= MOST_PORT) open.mutate(number);
      }}
    >
      {data?.ports.map(({ name, port: named }) => (
        <Button key={name} disabled={open.isPending} onClick={() => open.mutate(named)}>
          Preview {name}
        </Button>
      ))}
      <input
        aria-label="Port"
        inputMode="numeric"
        placeholder="port"
        value={port}
        onChange={({ target }) => setPort(target.value)}
        className="h-7 w-16 rounded border border-line bg-ground px-2"
      />
      <Button type="submit" disabled={open.isPending || port === ''}>
        Preview
      </Button>
      {link === undefined ? null : <Opened link={link} opened={() => open.reset()} />}
      {open.error === null ? null : <Failed error={open.error} />}
    </form>
  );
};

/** The link lets one browser in, once: it goes away when it was used. */
const Opened = ({ link, opened }: { readonly link: PreviewLink; readonly opened: () => void }) => (
  <>
    <a href={link.link} target="_blank" rel="noreferrer noopener" className="text-accent underline" onClick={opened}>
      Open port {link.port}
    </a>
    {link.problem === null ? null : <span className="said text-careful">! {link.problem}</span>}
  </>
);
