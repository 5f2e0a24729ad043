import { createContext, useContext, useEffect, useRef } from 'react';
import { belongsElsewhere, createKeys } from './keys.ts';
import { createCommands, type Command, type Commands } from './registry.ts';

export const CommandsContext = createContext<Commands>(createCommands());

/** Has these commands while the part is shown. */
export const useCommands = (commands: readonly Command[]): void => {
  const { add } = useContext(CommandsContext);
  const now = useRef(commands);
  now.current = commands;
  useEffect(() => add(() => now.current), [add]);
};

/** Lets keys do what the commands say. Once, around all pages. */
export const useCommandKeys = (): void => {
  const { list } = useContext(CommandsContext);
  useEffect(() => {
    const step = createKeys();
    const onKey = (event: KeyboardEvent): void => {
      if (belongsElsewhere(event)) return;
      const next = step(event, list(), performance.now());
      if (next.kind === 'none') return;
      event.preventDefault();
      if (next.kind === 'run') next.command.run();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [list]);
};
