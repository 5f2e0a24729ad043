import type { ConfigExplained } from '@orrery/protocol';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ChoiceField, LineField } from '../forms/field.tsx';
import { Answer } from '../parts/answer.tsx';
import { NodePage } from '../parts/node-page.tsx';
import { Empty } from '../parts/states.tsx';
import { visible } from '../review/inert.ts';
import { node } from '../state/node.ts';
import { keptSettings } from '../state/settings.ts';

/** Every key of the configuration: its value, where that comes from, and what it shadows. Files are changed by a person. */
export const SettingsPage = () => {
  const [asked, setAsked] = useState({ words: '', project: '', which: 'set' });
  const projects = useQuery({ queryKey: ['projects'], queryFn: () => node.call('projectList', { query: { limit: 200 } }) });
  const query = useQuery({
    queryKey: ['config', asked.project],
    queryFn: () => node.call('configList', { query: asked.project === '' ? {} : { project: asked.project } }),
  });
  const set = (change: Partial<typeof asked>): void => setAsked({ ...asked, ...change });
  return (
    <NodePage name="Settings" command="orrery config list">
      <div className="flex flex-wrap gap-x-4">
        <LineField label="Words" value={asked.words} change={(words) => set({ words })} placeholder="queue" />
        <ChoiceField
          label="Which"
          value={asked.which}
          change={(which) => set({ which })}
          choices={[
            { value: 'set', name: 'what somebody set' },
            { value: 'all', name: 'all' },
          ]}
        />
        <ChoiceField
          label="As they are for"
          value={asked.project}
          change={(project) => set({ project })}
          choices={[
            { value: '', name: 'the node' },
            ...(projects.data?.items ?? []).map(({ id, name }) => ({ value: id, name: visible(name) })),
          ]}
        />
      </div>
      <Answer query={query}>
        {({ file, problem, items }) => (
          <>
            <Problem lines={problem} />
            <p className="said my-2 text-quiet">
              The node reads <code className="font-mono text-ink">{visible(file)}</code>, and again when it changes.
            </p>
            <Settings items={keptSettings(items, asked)} onlySet={asked.which === 'set' && asked.words.trim() === ''} />
          </>
        )}
      </Answer>
    </NodePage>
  );
};

const Problem = ({ lines }: { readonly lines: readonly string[] | null }) => {
  if (lines === null) return null;
  return (
    <div role="alert" className="my-2 rounded border border-bad px-3 py-2">
      <p className="font-semibold text-bad">The file as it stands is not in force; what it was before holds.</p>
      {lines.map((line) => (
        <p key={line} className="said text-quiet">
          {visible(line)}
        </p>
      ))}
    </div>
  );
};

const Settings = ({ items, onlySet }: { readonly items: readonly ConfigExplained[]; readonly onlySet: boolean }) => {
  if (items.length === 0 && onlySet)
    return <Empty command="orrery config schema">Everything is as it is by default. What can be set:</Empty>;
  if (items.length === 0) return <Empty>No key has these words.</Empty>;
  return (
    <ul aria-label="Settings">
      {items.map((item) => (
        <Row key={item.key} item={item} />
      ))}
    </ul>
  );
};

const textOf = (value: unknown): string => visible(JSON.stringify(value));

const Row = ({ item: { key, value, origin, shadows, restart, description } }: { readonly item: ConfigExplained }) => (
  <li className="grid gap-x-4 border-b border-line py-1 md:grid-cols-[16rem_1fr]">
    <code className="said font-mono font-semibold">{key}</code>
    <div className="min-w-0">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <code className="said max-h-40 overflow-auto font-mono" tabIndex={0}>
          {textOf(value)}
        </code>
        <span className={`said ml-auto ${origin === 'default' ? 'text-quiet' : 'text-accent'}`}>{visible(origin)}</span>
      </p>
      <p className="text-quiet">
        {description}
        {restart ? ' (changes with the next start)' : null}
      </p>
      {shadows.map((shadow) => (
        <p key={shadow.origin} className="said text-quiet">
          instead of <code className="font-mono">{textOf(shadow.value)}</code> from {visible(shadow.origin)}
        </p>
      ))}
    </div>
  </li>
);
