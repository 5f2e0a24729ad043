type Setting = { readonly key: string; readonly origin: string; readonly description: string };

/** The settings that were asked for: those that have every word in their key or in what they are, and, of all, those that somebody set. */
export const keptSettings = <One extends Setting>(
  items: readonly One[],
  { words, which }: { readonly words: string; readonly which: string },
): One[] => {
  const asked = words.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter(({ key, origin, description }) => {
    const text = `${key} ${description}`.toLowerCase();
    return (which === 'all' || origin !== 'default' || asked.length > 0) && asked.every((word) => text.includes(word));
  });
};
