import type { Screen } from './screen.ts';
import { fit } from './screen.ts';
import type { Output } from './world.ts';

/** Lines that stay, and on a terminal one below them that is overwritten. */
export type LiveLine = { print(line: string): void; status(text: string | null): void };

/** Without a terminal `status` does nothing and the cursor is never moved. */
export const createLiveLine = (output: Output, screen: Screen): LiveLine => {
  let shown = false;
  const clear = (): void => {
    if (shown) output.write('\r\u001b[2K');
    shown = false;
  };
  return {
    print: (line) => {
      clear();
      output.write(`${line}\n`);
    },
    status: (text) => {
      clear();
      if (text === null || !screen.live) return;
      output.write(screen.dim(fit(`  ${text}`, screen.columns - 1)));
      shown = true;
    },
  };
};
