import { useState } from 'react';

/** Things that were put aside, at most; the oldest are forgotten first. */
const KEPT = 500;
const KEY = 'orrery.aside';

/** What a person has seen and wants out of the Inbox, kept in this browser. What is new to the same thing comes back. */
export const useAside = (): { readonly has: (key: string) => boolean; readonly put: (key: string) => void } => {
  const [aside, setAside] = useState<readonly string[]>(() => readAside(localStorage));
  return {
    has: (key) => aside.includes(key),
    put: (key) => {
      const next = [...readAside(localStorage).filter((one) => one !== key), key].slice(-KEPT);
      localStorage.setItem(KEY, JSON.stringify(next));
      setAside(next);
    },
  };
};

const readAside = (store: Pick<Storage, 'getItem'>): readonly string[] => {
  try {
    const kept: unknown = JSON.parse(store.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
};
