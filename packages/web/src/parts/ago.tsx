const steps = [
  [60_000, 1_000, 's'],
  [3_600_000, 60_000, 'min'],
  [86_400_000, 3_600_000, 'h'],
  [Number.POSITIVE_INFINITY, 86_400_000, 'd'],
] as const;

/** How long ago, with the instant for who points at it. */
export const Ago = ({ at }: { readonly at: string }) => {
  const past = Math.max(0, Date.now() - Date.parse(at));
  const [, unit, name] = steps.find(([below]) => past < below) ?? steps[3];
  return (
    <time dateTime={at} title={at} className="whitespace-nowrap text-quiet">
      {Math.floor(past / unit)} {name}
    </time>
  );
};
