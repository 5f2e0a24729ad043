import type { HarnessLoginView, HarnessView } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { visible } from '../review/inert.ts';
import { useIsOwner } from '../state/caller.ts';
import { node } from '../state/node.ts';
import { Button } from './button.tsx';
import { Copy } from './copy.tsx';
import { Line, Mark } from './facts.tsx';
import { Failed } from './states.tsx';
import { Sure } from './sure.tsx';

const paid: Readonly<Record<HarnessView['paidBy'], string | null>> = {
  login: 'paid by a login',
  key: 'paid by a key',
  nothing: 'nothing pays its calls yet',
  model: "paid by the key of its model's provider",
  own: 'paid by its own login, in its home',
  nobody: null,
};

/** What pays the calls of an agent program. */
export const PaidBy = ({ paidBy }: Pick<HarnessView, 'paidBy'>) => {
  const text = paid[paidBy];
  if (text === null) return null;
  return paidBy === 'nothing' ? <Mark held="careful">{text}</Mark> : <span className="text-quiet">{text}</span>;
};

/** How often a login that waits for its person is looked at, ms. */
const LOOK_EVERY_MS = 2_000;

/** The login of a program: how it stands, and what the owner does about it. */
export const ProgramLogin = ({ id }: { readonly id: string }) => {
  const owner = useIsOwner();
  const query = useQuery({
    queryKey: ['harness', id, 'login'],
    queryFn: () => node.call('harnessLoginShow', { params: { id } }),
    enabled: owner,
    refetchInterval: ({ state }) => (state.data?.state === 'waiting' ? LOOK_EVERY_MS : false),
  });
  const login = query.data;
  if (login === undefined || (login.ways.length === 0 && login.paidBy === 'nobody')) return null;
  return (
    <section aria-label={`Login of ${id}`} className="my-1 border-l-2 border-line pl-3">
      <Standing login={login} />
      {login.ways.length === 0 ? null : <Acts login={login} />}
    </section>
  );
};

const Standing = ({ login }: { readonly login: HarnessLoginView }) => {
  const { state, account, who, problem, url, code, ways } = login;
  if (state === 'waiting' && url !== null && code !== null) return <Waits url={url} code={code} />;
  if (ways.length === 0) return <p className="said text-quiet">No login: {visible(problem ?? '')}</p>;
  return (
    <>
      <p>
        {state === 'kept' ? (
          <Mark held="good">
            logged in to {account}
            {who === null ? '' : ` as ${visible(who)}`}
          </Mark>
        ) : (
          <span className="text-quiet">
            It can be paid by {account} in place of a key. The node keeps the login; no agent sees it.
          </span>
        )}
      </p>
      {problem === null ? null : <p className="said text-bad">✗ {visible(problem)}</p>}
    </>
  );
};

const Waits = ({ url, code }: { readonly url: string; readonly code: string }) => (
  <div role="status">
    <p>Open this address on any device, log in there, and type the code. Only when you began this login yourself.</p>
    <p className="flex flex-wrap items-baseline gap-x-3">
      <code className="said font-mono">{visible(url)}</code>
      <Copy text={url} name="Copy the address" />
    </p>
    <p className="flex flex-wrap items-baseline gap-x-3">
      <code className="font-mono text-lg font-semibold">{visible(code)}</code>
      <Copy text={code} name="Copy the code" />
    </p>
  </div>
);

const Acts = ({ login }: { readonly login: HarnessLoginView }) => {
  const queries = useQueryClient();
  const { harness: id, state, ways } = login;
  const onSettled = () =>
    queries.invalidateQueries({ predicate: ({ queryKey: [first] }) => first === 'harness' || first === 'harnesses' });
  const begin = useMutation({
    mutationFn: (token: string | null) =>
      node.call('harnessLogin', { params: { id }, body: token === null ? {} : { token }, timeoutMs: 90_000 }),
    onSettled,
  });
  const forget = useMutation({ mutationFn: () => node.call('harnessLogout', { params: { id }, body: {} }), onSettled });
  const busy = begin.isPending || forget.isPending;
  return (
    <>
      <p className="flex flex-wrap items-center gap-2 py-1">
        {state === 'waiting' || !ways.includes('device') ? null : (
          <Button disabled={busy} onClick={() => begin.mutate(null)}>
            {begin.isPending ? 'Asking for a code …' : state === 'none' ? 'Log in by a code' : 'Log in again'}
          </Button>
        )}
        {state === 'waiting' ? (
          <Button disabled={busy} onClick={() => forget.mutate()}>
            End this login
          </Button>
        ) : null}
        {state === 'kept' || state === 'ended' ? (
          <Sure name="Log out" says="A key pays its calls then, if there is one." disabled={busy} act={() => forget.mutate()} />
        ) : null}
      </p>
      {ways.includes('token') ? <Token login={login} busy={busy} take={(token) => begin.mutate(token)} /> : null}
      {begin.error === null ? null : <Failed error={begin.error} />}
      {forget.error === null ? null : <Failed error={forget.error} />}
    </>
  );
};

type TokenProps = { readonly login: HarnessLoginView; readonly busy: boolean; readonly take: (token: string) => void };

/** A token that its program printed; it is shown to nobody and forgotten when it is sent. */
const Token = ({ login: { account, prints }, busy, take }: TokenProps) => {
  const [token, setToken] = useState('');
  return (
    <form
      className="py-1"
      onSubmit={(event) => {
        event.preventDefault();
        take(token);
        setToken('');
      }}
    >
      <p className="text-quiet">Its own program prints a token of {account}, on any machine with a browser:</p>
      <Line>{prints ?? 'claude setup-token'}</Line>
      <p className="flex flex-wrap items-center gap-2 py-1">
        <label className="flex flex-wrap items-center gap-2">
          Token
          <input
            type="password"
            autoComplete="off"
            value={token}
            onChange={({ target }) => setToken(target.value)}
            className="min-h-7 w-64 rounded border border-line bg-ground px-2"
          />
        </label>
        <Button type="submit" disabled={busy || token.trim() === ''}>
          Log in with it
        </Button>
      </p>
    </form>
  );
};
