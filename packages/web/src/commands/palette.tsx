import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Command as List } from 'cmdk';
import { useDeferredValue, useEffect, useState } from 'react';
import { Dialog } from '../parts/dialog.tsx';
import { State } from '../parts/states.tsx';
import { visible } from '../review/inert.ts';
import { node } from '../state/node.ts';
import { Keys } from './help.tsx';
import type { Command } from './registry.ts';

/** Signs from which on the node is asked what was said anywhere. */
const SEARCHED_CHARS = 3;
/** How long words have to stand before the node is asked, ms. */
const STILL_MS = 250;
const MOST = 50;

type PaletteProps = { readonly commands: readonly Command[]; readonly close: () => void };

/** All that can be done and gone to, found by its words. */
export const Palette = ({ commands, close }: PaletteProps) => {
  const [words, setWords] = useState('');
  const navigate = useNavigate();
  const go = (to: string): void => {
    close();
    void navigate({ to });
  };
  const listed = commands.filter(({ id }) => id !== 'palette');
  const does = (run: () => void) => (): void => {
    close();
    // What it does may take the keys: the palette has to have given them back.
    setTimeout(run, 0);
  };
  return (
    <Dialog name="Find and do" close={close}>
      <List label="Find and do" loop>
        <List.Input
          value={words}
          onValueChange={setWords}
          placeholder="What to do, or where to go"
          className="h-11 w-full border-b border-line bg-ground px-3 text-ink outline-none"
        />
        <List.List className="max-h-[60dvh] overflow-y-auto p-1">
          <List.Empty className="p-4 text-center text-quiet">Nothing has these words.</List.Empty>
          <List.Group heading="Commands" className={headed}>
            {listed.map(({ id, does: text, keys, run }) => (
              <List.Item key={id} value={`${text} ${id}`} onSelect={does(run)} className={row}>
                <span className="flex-1">{text}</span>
                {keys === undefined ? null : <Keys keys={keys} />}
              </List.Item>
            ))}
          </List.Group>
          <Places go={go} />
          <Said words={words} go={go} />
        </List.List>
      </List>
    </Dialog>
  );
};

const row = 'flex min-h-7 cursor-pointer items-baseline gap-2 rounded px-2 py-1 data-[selected=true]:bg-raised';
const headed = '[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-quiet';

type Going = { readonly go: (to: string) => void };

/** Sessions, tasks and environments, the newest of each. */
const Places = ({ go }: Going) => {
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => node.call('sessionList', { query: { limit: 200 } }) });
  const tasks = useQuery({ queryKey: ['tasks'], queryFn: () => node.call('taskList', { query: { limit: 100 } }) });
  const places = useQuery({ queryKey: ['environments'], queryFn: () => node.call('environmentList', { query: {} }) });
  return (
    <>
      <Group heading="Sessions">
        {sessions.data?.items.slice(0, MOST).map(({ id, name, title, state }) => (
          <List.Item key={id} value={`session ${name} ${title} ${id}`} onSelect={() => go(`/sessions/${id}`)} className={row}>
            <State state={state} />
            <span className="said flex-1">{title === name ? name : `${name}: ${title}`}</span>
          </List.Item>
        ))}
      </Group>
      <Group heading="Tasks">
        {tasks.data?.items.slice(0, MOST).map(({ id, prompt, verdict, state }) => (
          <List.Item key={id} value={`task ${prompt.slice(0, 200)} ${id}`} onSelect={() => go(`/tasks/${id}`)} className={row}>
            <State state={verdict ?? state} />
            <span className="said flex-1">{prompt.split('\n')[0]?.slice(0, 120)}</span>
          </List.Item>
        ))}
      </Group>
      <Group heading="Environments">
        {places.data?.items.slice(0, MOST).map(({ id, name, state, project }) => (
          <List.Item key={id} value={`environment ${name} ${id}`} onSelect={() => go(`/terminals/${id}`)} className={row}>
            <State state={state} />
            <span className="said flex-1">
              {name} <span className="text-quiet">terminals · {project.name}</span>
            </span>
          </List.Item>
        ))}
      </Group>
    </>
  );
};

/** A heading with what stands under it, where anything does. */
const Group = ({ heading, children }: { readonly heading: string; readonly children: React.ReactNode[] | undefined }) =>
  children === undefined || children.length === 0 ? null : (
    <List.Group heading={heading} className={headed}>
      {children}
    </List.Group>
  );

/** What was said in any session, as the node finds it. */
const Said = ({ words, go }: Going & { readonly words: string }) => {
  const asked = useStill(useDeferredValue(words.trim()));
  const { data } = useQuery({
    queryKey: ['search', asked],
    queryFn: () => node.call('sessionSearch', { query: { q: asked, limit: 20 } }),
    enabled: asked.length >= SEARCHED_CHARS,
    retry: false,
  });
  if (data === undefined || data.items.length === 0 || asked.length < SEARCHED_CHARS) return null;
  return (
    <List.Group heading="Said in sessions" forceMount className={headed}>
      {data.items.map(({ seq, session, snippet }) => (
        <List.Item key={seq} forceMount value={`said ${seq}`} onSelect={() => go(`/sessions/${session.id}`)} className={row}>
          <span className="shrink-0 text-quiet">{session.name}</span>
          <span className="said min-w-0 flex-1">
            {snippet.map(({ text, found }, place) => (found ? <mark key={place}>{visible(text)}</mark> : visible(text)))}
          </span>
        </List.Item>
      ))}
    </List.Group>
  );
};

/** Words that have stood for a moment. */
const useStill = (words: string): string => {
  const [still, setStill] = useState(words);
  useEffect(() => {
    const timer = setTimeout(() => setStill(words), STILL_MS);
    return () => clearTimeout(timer);
  }, [words]);
  return still;
};
