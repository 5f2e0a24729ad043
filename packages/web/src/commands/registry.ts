// Glossary. A command is something a person can have done from where they are; keys, palette, menu and help all read the one
// list of them. A source is a part of a page that has some while it is shown.

/** One thing that can be done. */
export type Command = {
  readonly id: string;
  /** What it does, in words. */
  readonly does: string;
  /** Under which heading it stands. */
  readonly group: 'Go to' | 'Do' | 'Review' | 'Layout';
  /** Keys, one after another: `g s`, `Mod+k` (Ctrl or Cmd). */
  readonly keys?: string;
  /** Whether it can be done now; absent: always. */
  readonly when?: () => boolean;
  readonly run: () => void;
};

type Source = () => readonly Command[];

export type Commands = {
  /** Has a source's commands for as long as it is there; what it answers takes it away. */
  add(source: Source): () => void;
  /** All that can be done now; of one id, or of the same keys, that of the newest source. */
  list(): readonly Command[];
};

/** Makes it. */
export const createCommands = (): Commands => {
  let sources: readonly Source[] = [];
  return {
    add(source) {
      sources = [...sources, source];
      return () => {
        sources = sources.filter((one) => one !== source);
      };
    },
    list() {
      const taken = new Set<string>();
      const listed: Command[] = [];
      for (const source of sources.toReversed())
        for (const command of source()) {
          const names = [`id ${command.id}`, ...(command.keys === undefined ? [] : [`keys ${command.keys}`])];
          if (names.some((name) => taken.has(name)) || command.when?.() === false) continue;
          for (const name of names) taken.add(name);
          listed.push(command);
        }
      return listed;
    },
  };
};
