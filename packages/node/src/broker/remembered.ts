import { REMEMBERED } from './limits.ts';

/** A memory of bounded size: the one not asked for longest goes first. What it forgets can be read or computed again. */
export type Remembered<Value> = {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  forget(key: string): void;
  forgetIf(test: (value: Value) => boolean): void;
};

export const createRemembered = <Value>(limit: number = REMEMBERED): Remembered<Value> => {
  // A Map keeps the order of insertion, so putting a key in again makes it the youngest.
  const values = new Map<string, Value>();
  const set = (key: string, value: Value): void => {
    values.delete(key);
    values.set(key, value);
    if (values.size > limit) for (const oldest of values.keys()) return void values.delete(oldest);
  };
  return {
    get(key) {
      const value = values.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
    forget: (key) => void values.delete(key),
    forgetIf(test) {
      for (const [key, value] of values) if (test(value)) values.delete(key);
    },
  };
};
