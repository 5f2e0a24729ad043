import type { InteractionView } from '@orrery/protocol';
import { Guarantees, useBackends } from '../environments/guarantees.tsx';
import { Copy } from '../parts/copy.tsx';
import { useSession } from '../state/use-session.ts';
import { withoutAsking } from './without-asking.ts';

/** Who asks, where, and what that place holds it to. */
export const Asker = ({ asked }: { readonly asked: InteractionView }) => {
  const { data: session } = useSession(asked.sessionId);
  const backends = useBackends();
  return (
    <>
      {session === undefined ? (
        // The line is there from the beginning, so that nothing moves when its words come.
        <p className="min-h-5" />
      ) : (
        <p className="said min-h-5 text-quiet">
          {session.agent === null ? '' : `${session.agent.name}, `}
          {session.harness} in {session.environment.name} of {session.project.name} ·{' '}
          <Guarantees backend={session.environment.backend} of={backends} />
        </p>
      )}
      <Rule asked={asked} />
    </>
  );
};

/** What would let it be done without asking, as text that a person puts where it belongs. */
const Rule = ({ asked: { ask, sessionName } }: { readonly asked: InteractionView }) => {
  const rule = withoutAsking(ask, { name: sessionName });
  if (rule === null) return null;
  return (
    <details className="my-1">
      <summary className="cursor-pointer text-quiet">Without asking, from now on</summary>
      <p className="text-quiet">{rule.widens}</p>
      {rule.lines.map(({ where, text }) => (
        <p key={where} className="flex flex-wrap items-baseline gap-2">
          <span className="text-quiet">{where}</span>
          <code className="said rounded bg-ground px-1 font-mono">{text}</code>
          <Copy text={text} name="Copy" />
        </p>
      ))}
    </details>
  );
};
