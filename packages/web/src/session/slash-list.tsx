import { useEffect, useRef } from 'react';
import type { Slash } from './slash.ts';

type ListProps = {
  readonly id: string;
  readonly offered: readonly Slash[];
  readonly place: number;
  readonly take: (one: Slash) => void;
};

/** Commands that could be meant, over the composer: nothing below moves while they come and go. */
export const SlashList = ({ id, offered, place, take }: ListProps) => {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    list.current?.children[place]?.scrollIntoView({ block: 'nearest' });
  }, [place]);
  return (
    <ul
      ref={list}
      id={id}
      role="listbox"
      aria-label="Commands"
      className="absolute inset-x-0 bottom-full z-10 mb-1 max-h-64 overflow-y-auto rounded border border-line bg-ground p-1 shadow-sm"
    >
      {offered.map((one, index) => (
        <li
          key={one.name}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === place}
          // The keys stay in the field.
          onMouseDown={(event) => {
            event.preventDefault();
            take(one);
          }}
          className={`flex min-h-7 cursor-pointer items-baseline gap-2 rounded px-2 py-1 ${index === place ? 'bg-raised' : ''}`}
        >
          <span className="font-mono">/{one.name}</span>
          <span className="hidden font-mono text-quiet sm:inline">{one.takes}</span>
          <span className="said ml-auto text-right text-quiet">{one.about}</span>
        </li>
      ))}
    </ul>
  );
};
