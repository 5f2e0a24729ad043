// Rows of a list by keys: each is the link that leads on, or what is asked. Enter does there what it does everywhere.

const rows = (): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>('main [data-row], main [data-ask]')];

export const hasRows = (): boolean => rows().length > 0;

/** Goes to the next row, or the one before; from nowhere to the first. At an end it stays. */
export const goToRow = (step: 1 | -1): void => {
  const all = rows();
  const now = all.findLastIndex((one) => one === document.activeElement || one.contains(document.activeElement));
  const next = all[now === -1 ? 0 : Math.min(all.length - 1, Math.max(0, now + step))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
};
