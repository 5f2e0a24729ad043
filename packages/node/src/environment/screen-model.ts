// A screen as a terminal shows it: output goes in, and what draws the same screen on an empty terminal comes out.

import { SerializeAddon } from '@xterm/addon-serialize';
import headless from '@xterm/headless';

export type ScreenModel = {
  feed(output: string | Uint8Array): Promise<void>;
  resize(columns: number, rows: number): void;
  /** Rows with their colours, cursor, title and modes. */
  draw(): string;
  close(): void;
};

type Terminal = InstanceType<typeof headless.Terminal>;

/** Makes one of a size. Rows that scrolled away are not kept: that is the viewer's. */
export const createScreenModel = ({ columns, rows }: { readonly columns: number; readonly rows: number }): ScreenModel => {
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 0, allowProposedApi: true });
  const writer = new SerializeAddon();
  terminal.loadAddon(writer);
  const rest = watchRest(terminal);
  return {
    feed: (output) => new Promise((resolve) => terminal.write(output, resolve)),
    resize: (width, height) => {
      terminal.resize(width, height);
      rest.region = '';
    },
    draw: () => {
      const { cursorX, cursorY } = terminal.buffer.active;
      const cursor = rest.region === '' ? '' : `${rest.region}\u001b[${cursorY + 1};${cursorX + 1}H`;
      const modes = [...rest.modes].map(([mode, on]) => `\u001b[?${mode}${on ? 'h' : 'l'}`).join('');
      const keys = rest.keys.map((flags) => `\u001b[>${flags}u`).join('');
      const title = rest.title === '' ? '' : `\u001b]0;${rest.title}\u0007`;
      return `${title}${writer.serialize({ scrollback: 0 })}${cursor}${modes}${keys}${rest.otherKeys}`;
    },
    close: () => terminal.dispose(),
  };
};

/** Private modes that the writer leaves out: cursor shown, how the mouse is told, the wheel in the other buffer, and reports. */
const MODES: readonly number[] = [12, 25, 1005, 1006, 1007, 1015, 1016, 2031, 2048];
/** How deep the stack of keyboard modes is remembered. */
const KEYS = 16;

type Params = (number | number[])[];

/** What belongs to a screen and is in no buffer. */
const watchRest = (terminal: Terminal) => {
  const rest = { modes: new Map<number, boolean>(), keys: [] as number[], otherKeys: '', region: '', title: '' };
  const { parser } = terminal;
  const number = (params: Params, at: number, absent: number): number => {
    const value = params[at];
    return typeof value === 'number' && value > 0 ? value : absent;
  };
  const set = (on: boolean) => (params: Params) => {
    for (const mode of params) if (typeof mode === 'number' && MODES.includes(mode)) rest.modes.set(mode, on);
    return false;
  };
  const reset = (): boolean => {
    Object.assign(rest, { modes: new Map(), keys: [], otherKeys: '', region: '' });
    return false;
  };
  parser.registerCsiHandler({ prefix: '?', final: 'h' }, set(true));
  parser.registerCsiHandler({ prefix: '?', final: 'l' }, set(false));
  parser.registerCsiHandler({ prefix: '>', final: 'u' }, (params) => {
    rest.keys = [...rest.keys, number(params, 0, 0)].slice(-KEYS);
    return false;
  });
  parser.registerCsiHandler({ prefix: '<', final: 'u' }, (params) => {
    rest.keys = rest.keys.slice(0, Math.max(0, rest.keys.length - number(params, 0, 1)));
    return false;
  });
  parser.registerCsiHandler({ prefix: '>', final: 'm' }, (params) => {
    rest.otherKeys = `\u001b[>${params.filter((one) => typeof one === 'number').join(';')}m`;
    return false;
  });
  parser.registerCsiHandler({ final: 'r' }, (params) => {
    const [top, bottom] = [number(params, 0, 1), number(params, 1, terminal.rows)];
    rest.region = top === 1 && bottom >= terminal.rows ? '' : `\u001b[${top};${bottom}r`;
    return false;
  });
  parser.registerCsiHandler({ intermediates: '!', final: 'p' }, reset);
  parser.registerEscHandler({ final: 'c' }, reset);
  terminal.onTitleChange((title) => {
    rest.title = title.slice(0, 500).replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '');
  });
  return rest;
};
