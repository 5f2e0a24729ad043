import type { SessionView } from '@orrery/protocol';
import { fullness, tokensText } from './work.ts';

/** From which share on a window is nearly full. */
const NEARLY = 0.85;

/** How full the model's window is. */
const Context = ({ context }: { readonly context: NonNullable<SessionView['context']> }) => {
  const full = fullness(context);
  const { usedTokens, windowTokens } = context;
  if (full === null || windowTokens === null) return <span>context {tokensText(usedTokens)}</span>;
  const nearly = full >= NEARLY;
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap">
      context
      <meter
        aria-label="How full the context is"
        min={0}
        max={windowTokens}
        value={usedTokens}
        className="sr-only"
        title={`${usedTokens} of ${windowTokens} tokens`}
      />
      <span aria-hidden="true" className="h-1.5 w-16 overflow-hidden rounded bg-line">
        <span className={`block h-full ${nearly ? 'bg-careful' : 'bg-accent'}`} style={{ width: `${full * 100}%` }} />
      </span>
      <span className={`tabular-nums ${nearly ? 'text-careful' : ''}`}>
        {nearly ? '! ' : ''}
        {Math.round(full * 100)}% of {tokensText(windowTokens)}
      </span>
    </span>
  );
};

/** What its model calls took, and how full its context is. */
export const Usage = ({ session: { usage, context, budget } }: { readonly session: SessionView }) => (
  <span className="inline-flex flex-wrap items-baseline gap-x-3 text-quiet">
    {context === null ? null : <Context context={context} />}
    <span className="whitespace-nowrap tabular-nums" title="tokens in and out, as the gateway counted them">
      {tokensText(usage.inputTokens)} in · {tokensText(usage.outputTokens)} out
    </span>
    {usage.costUsd === null ? null : <span className="tabular-nums">${usage.costUsd.toFixed(2)}</span>}
    {budget.usd === null ? null : <span>of ${budget.usd}</span>}
    {budget.turns === null ? null : <span>at most {budget.turns} turns</span>}
    {budget.reached === null ? null : <span className="text-careful">! budget reached: what waits is not sent</span>}
  </span>
);
