import { useEffect, useState } from 'react';

/** How long it says that it was copied, ms. */
const SAID_MS = 2_000;

/** Puts a text where it can be pasted from; what it says afterwards takes no more room than its name. */
export const Copy = ({ text, name }: { readonly text: string; readonly name: string }) => {
  const [said, setSaid] = useState<string | null>(null);
  useEffect(() => {
    if (said === null) return undefined;
    const timer = setTimeout(() => setSaid(null), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <button
      type="button"
      title={text}
      className="grid cursor-pointer text-left whitespace-nowrap text-accent underline"
      onClick={() =>
        void copied(text).then(
          () => setSaid('copied'),
          () => setSaid('not let'),
        )
      }
    >
      <span className={`[grid-area:1/1] ${said === null ? '' : 'invisible'}`}>{name}</span>
      <span className="[grid-area:1/1]" role="status">
        {said}
      </span>
    </button>
  );
};

/** A page that is not of this machine, without TLS, has no clipboard. */
const copied = async (text: string): Promise<void> => {
  if (!('clipboard' in navigator)) throw new Error('There is no clipboard.');
  await navigator.clipboard.writeText(text);
};

/** What the page shows, as a line for a terminal. */
export const AsCli = ({ children }: { readonly children: string }) => (
  <span className="inline-flex items-baseline gap-2">
    <code className="hidden font-mono text-quiet md:inline">{children}</code>
    <Copy text={children} name="Copy as CLI" />
  </span>
);
