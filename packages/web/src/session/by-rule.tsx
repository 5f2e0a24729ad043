import type { InteractionView } from '@orrery/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Answer } from '../parts/answer.tsx';
import { Button } from '../parts/button.tsx';
import { Copy } from '../parts/copy.tsx';
import { Failed } from '../parts/states.tsx';
import { visible } from '../review/inert.ts';
import { useIsOwner } from '../state/caller.ts';
import { node } from '../state/node.ts';

type Asked = Pick<InteractionView, 'id' | 'revision' | 'ask'>;

/** Whether a rule could allow it. */
export const mayHaveRule = ({ kind, outcomes }: InteractionView['ask']): boolean =>
  (kind === 'command' || kind === 'edit') && outcomes.includes('approved');

/** The rule that would allow just what is asked, and the file it goes to: seen by everybody, added by the owner. */
export const ByRule = ({ asked, close }: { readonly asked: Asked; readonly close: () => void }) => {
  const { id, revision } = asked;
  const proposal = useQuery({
    queryKey: ['rule', id, revision],
    queryFn: () => node.call('policyPropose', { params: { id } }),
    // What it says follows from files that change.
    staleTime: 0,
  });
  const add = useAdd(asked);
  return (
    <section
      aria-label="The rule"
      className="mt-2 rounded border border-line bg-ground px-3 py-2"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        // The keys go back to what is asked.
        event.currentTarget.closest<HTMLElement>('[data-ask]')?.focus({ preventScroll: true });
        close();
      }}
    >
      <Answer query={proposal}>
        {({ rule, why }) =>
          rule === null ? (
            <p className="said text-careful">
              ! There is no rule for it. {visible(why ?? '')} <Button onClick={close}>Leave it</Button>
            </p>
          ) : (
            <Proposed
              rule={rule}
              of={asked.ask.kind === 'edit' ? 'any change of these files' : 'this very command'}
              adding={add.isPending}
              add={() => add.mutate(rule.yaml)}
              close={close}
            />
          )
        }
      </Answer>
      {add.error === null ? null : <Failed error={add.error} />}
    </section>
  );
};

const useAdd = ({ id, revision }: Pick<Asked, 'id' | 'revision'>) => {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (yaml: string) => node.call('policyAdd', { params: { id }, body: { revision, yaml } }),
    onSettled: () =>
      Promise.all(['interactions', 'policies', 'rule'].map((name) => queries.invalidateQueries({ queryKey: [name] }))),
  });
};

const Proposed = (props: {
  readonly rule: { readonly yaml: string; readonly file: string };
  /** What is allowed from then on. */
  readonly of: string;
  readonly adding: boolean;
  readonly add: () => void;
  readonly close: () => void;
}) => {
  const { rule, of, adding, add, close } = props;
  const owner = useIsOwner();
  const text = useRef<HTMLPreElement>(null);
  useEffect(() => text.current?.focus({ preventScroll: true }), []);
  return (
    <>
      <p className="said text-quiet">
        From now on {of} is allowed without asking, for this project and this program. The rule goes to{' '}
        <code className="font-mono">{visible(rule.file)}</code>
      </p>
      <pre ref={text} tabIndex={0} aria-label="The rule, as YAML" className="said my-1 max-h-72 overflow-auto font-mono">
        {visible(rule.yaml)}
      </pre>
      <div className="flex flex-wrap items-center gap-3">
        {owner ? (
          <Button look="main" disabled={adding} onClick={add}>
            Add to the policy file
          </Button>
        ) : (
          <span className="text-quiet">Only the owner adds it.</span>
        )}
        <Button onClick={close}>Leave it</Button>
        <Copy text={rule.yaml} name="Copy" />
      </div>
    </>
  );
};
