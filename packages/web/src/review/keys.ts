import { useEffect, useRef } from 'react';

/** What a key does on a page. */
export type Keys = Readonly<Record<string, { readonly does: string; readonly run: () => void }>>;

/** Keys of a page, while no field is being written in. */
export const useKeys = (keys: Keys): void => {
  const now = useRef(keys);
  now.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const { target } = event;
      if (target instanceof HTMLElement && target.closest('input, textarea, select') !== null) return;
      const key = now.current[event.key];
      if (key === undefined) return;
      event.preventDefault();
      key.run();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
};
