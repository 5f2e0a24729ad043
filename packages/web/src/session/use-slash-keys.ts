import { useState } from 'react';
import { matching, type Slash } from './slash.ts';

/** The list of commands at a text that begins like one: which of them stand there, which is chosen, and its keys. */
export const useSlashKeys = (text: string, all: readonly Slash[], change: (text: string) => void) => {
  const [at, setAt] = useState({ text: '', place: 0, closed: false });
  const fresh = at.text === text ? at : { text, place: 0, closed: false };
  const offered = fresh.closed ? [] : matching(text, all);
  const place = Math.min(fresh.place, Math.max(0, offered.length - 1));
  const take = (one: Slash): void => change(`/${one.name} `);
  /** Whether the key was the list's. */
  const onKey = ({ key }: Pick<React.KeyboardEvent, 'key'>): boolean => {
    const chosen = offered[place];
    if (chosen === undefined) return false;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      const step = key === 'ArrowDown' ? 1 : offered.length - 1;
      setAt({ ...fresh, place: (place + step) % offered.length });
      return true;
    }
    if (key === 'Escape') {
      setAt({ ...fresh, closed: true });
      return true;
    }
    // A name that is whole is done by Enter; one that is not is taken first.
    if (key === 'Tab' || (key === 'Enter' && text !== `/${chosen.name}`)) {
      take(chosen);
      return true;
    }
    return false;
  };
  return { offered, place, take, onKey };
};
