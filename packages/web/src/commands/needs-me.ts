// What waits for the person on this page, gone to and answered by keys. The first key only goes there: nothing is allowed
// that was not looked at.

const asks = (): readonly HTMLElement[] => [...document.querySelectorAll<HTMLElement>('[data-ask]')];

export const isAsked = (): boolean => asks().length > 0;

/** Goes to what waits next, from the one where the keys are. True where there is one. */
export const goToNextAsk = (): boolean => {
  const all = asks();
  const now = all.findIndex((one) => one.contains(document.activeElement));
  const next = all[(now + 1) % Math.max(1, all.length)];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'center' });
  return next !== undefined;
};

/** Answers the one where the keys are, or shows the rule that would allow it; where they are at none, it goes to the first. */
export const answerAsk = (outcome: 'approved' | 'denied' | 'rule'): void => {
  const here = asks().find((one) => one.contains(document.activeElement));
  if (here === undefined) goToNextAsk();
  else here.querySelector<HTMLElement>(`button[data-outcome="${outcome}"]:enabled`)?.click();
};
