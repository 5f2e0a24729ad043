type Fact = readonly [name: string, value: React.ReactNode];

/** Names and what they are; what is null is left out. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl className="grid grid-cols-[minmax(5.5rem,max-content)_1fr] gap-x-4 gap-y-0.5">
    {facts
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-quiet">{name}</dt>
          <dd className="said min-w-0">{value}</dd>
        </div>
      ))}
  </dl>
);

/** A part of a page under a name of its own. */
export const Part = ({ name, children }: { readonly name: string; readonly children: React.ReactNode }) => (
  <section aria-label={name} className="mb-6">
    <h2 className="mb-1 font-semibold">{name}</h2>
    {children}
  </section>
);

/** A mark with its word, read out as one. */
export const Mark = ({ held, children }: { readonly held: 'good' | 'careful' | 'bad'; readonly children: React.ReactNode }) => (
  <span className={`whitespace-nowrap ${looks[held][1]}`}>
    <span aria-hidden="true">{looks[held][0]} </span>
    {children}
  </span>
);

const looks = { good: ['✓', 'text-good'], careful: ['!', 'text-careful'], bad: ['✗', 'text-bad'] } as const;

/** What can be typed where the node runs. */
export const Line = ({ children }: { readonly children: string }) => (
  <code className="said rounded bg-raised px-1 font-mono">{children}</code>
);
