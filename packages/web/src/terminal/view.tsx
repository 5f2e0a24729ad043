import { terminalPath, terminalProtocol } from '@orrery/protocol/terminal-frames';
import { useEffect, useRef, useState } from 'react';
import '@xterm/xterm/css/xterm.css';
import { Button } from '../parts/button.tsx';
import { visible } from '../review/inert.ts';
import { ClipboardPermission, type ClipboardAsk } from './clipboard.tsx';
import { createScreen, type DrawnScreen } from './screen.ts';
import { openSession, type Hears, type Status, type TerminalSession } from './session.ts';

export type TerminalProps = {
  /** Id or name of an environment, or a task. */
  readonly environment: string;
  readonly terminal: string;
  /** Whether it takes the keys at once: only where a person asked for it. */
  readonly focused?: boolean;
  readonly onExit?: () => unknown;
};

/** A program's terminal. It fills its place; leaving it stops nothing. */
export const TerminalView = (props: TerminalProps) => {
  const place = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLDivElement>(null);
  const [status, setStatus] = useState<Status | null>(null);
  const [said, setSaid] = useState<Said>({ title: '', link: null, clipboard: null });
  const session = useTerminal(place, props, {
    status: setStatus,
    said: (change) => setSaid((was) => ({ ...was, ...change })),
    leave: () => bar.current?.focus(),
  });
  const ended = status?.exit != null;
  const { onExit } = props;
  useEffect(() => {
    if (ended) onExit?.();
  }, [ended, onExit]);
  return (
    <section aria-label={`Terminal ${props.terminal}`} className="flex min-h-0 flex-1 flex-col">
      <div ref={bar} tabIndex={-1} className="flex min-h-7 flex-wrap items-center gap-x-3 bg-raised px-2">
        <span role="status">{status === null ? null : <Words status={status} />}</span>
        {said.title === '' ? null : <span className="said text-quiet">{visible(said.title.slice(0, 200))}</span>}
        {status?.writer === 'other' && !ended ? <Button onClick={() => session.current?.take()}>Write here</Button> : null}
        {said.link === null ? null : (
          <a href={said.link} target="_blank" rel="noreferrer noopener" className="said text-accent underline">
            The program links to {visible(said.link)}
          </a>
        )}
        <ClipboardPermission ask={said.clipboard} />
        <span className="ml-auto hidden text-quiet md:inline">Ctrl-] leaves the keys to the page</span>
      </div>
      <div ref={place} className="terminal-place min-h-0 flex-1 overflow-hidden font-mono" />
    </section>
  );
};

type Said = { readonly title: string; readonly link: string | null; readonly clipboard: ClipboardAsk };

const Words = ({ status: { connection, exit, writer, notice } }: { readonly status: Status }) => {
  if (exit !== null) return <span className="text-quiet">– {exitWords(exit)}</span>;
  if (connection === 'lost') return <span className="text-careful">! not connected: the program goes on; trying again</span>;
  if (connection === 'connecting') return <span className="text-quiet">connecting …</span>;
  if (notice !== null) return <span className="text-careful">! {notice}</span>;
  return <span className="text-quiet">{writer === 'other' ? '○ somebody else writes here' : '● live'}</span>;
};

const exitWords = ({ exitCode, signal, limit, reason }: NonNullable<Status['exit']>): string => {
  const why = limit ?? reason;
  const how = signal === null ? `ended with ${exitCode ?? 'no code'}` : `ended by ${signal}`;
  return why === null ? how : `${how}: ${why}`;
};

type Telling = {
  readonly status: (status: Status) => void;
  readonly said: (change: Partial<Said>) => void;
  readonly leave: () => void;
};

/** Opens the terminal in its place for as long as it is shown. */
const useTerminal = (
  place: React.RefObject<HTMLDivElement | null>,
  { environment, terminal, focused = false }: TerminalProps,
  telling: Telling,
) => {
  const session = useRef<TerminalSession | null>(null);
  const now = useRef(telling);
  now.current = telling;
  useEffect(() => {
    if (place.current === null) return undefined;
    const screen = createScreen(place.current, {
      onTyped: (bytes, person) => session.current?.type(bytes, person),
      onTitle: (title) => now.current.said({ title }),
      onLink: (link) => now.current.said({ link: /^https?:\/\//.test(link) ? link : null }),
      onClipboard: (payload) => now.current.said({ clipboard: { payload } }),
      onLeave: () => now.current.leave(),
    });
    const opened = openSession({
      connect: connectTo(environment, terminal),
      screen,
      tell: (status) => {
        screen.lines(!status.tty);
        now.current.status(status);
      },
      later: (ms, then) => {
        const timer = setTimeout(then, ms);
        return () => clearTimeout(timer);
      },
    });
    session.current = opened;
    const leaveSize = followSize(place.current, screen, opened);
    if (focused) screen.focus();
    return () => {
      leaveSize();
      opened.close();
      screen.close();
      session.current = null;
    };
  }, [place, environment, terminal, focused]);
  return session;
};

/** Says how much room there is, and whether anybody can see it. */
const followSize = (place: HTMLElement, screen: DrawnScreen, session: TerminalSession): (() => void) => {
  const say = (): void => {
    const size = screen.fitting();
    if (size !== null) session.resize({ ...size, visible: document.visibilityState === 'visible' });
  };
  const sized = new ResizeObserver(say);
  sized.observe(place);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  document.addEventListener('visibilitychange', say);
  dark.addEventListener('change', screen.recolour);
  say();
  return () => {
    sized.disconnect();
    document.removeEventListener('visibilitychange', say);
    dark.removeEventListener('change', screen.recolour);
  };
};

/** A connection of the browser; its cookie says who asks. */
const connectTo = (environment: string, terminal: string) => (query: string, hears: Hears) => {
  const path = terminalPath.replace(':id', encodeURIComponent(environment)).replace(':terminal', encodeURIComponent(terminal));
  const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/api/v1${path}?${query}`, terminalProtocol);
  socket.binaryType = 'arraybuffer';
  socket.addEventListener('message', ({ data }) =>
    typeof data === 'string' ? hears.text(data) : hears.bytes(new Uint8Array(data as ArrayBuffer)),
  );
  socket.addEventListener('close', hears.closed);
  return {
    send: (data: string | Uint8Array) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data as string | Uint8Array<ArrayBuffer>);
    },
    close: () => socket.close(),
  };
};
