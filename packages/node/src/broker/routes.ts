import type { AnswerOf, OperationCall, OperationHandlers } from '@orrery/protocol';
import type { EgressControl } from './egress-control.ts';
import type { EgressSubject } from './run-tokens.ts';

export type EgressHandlerParts = {
  readonly egress: EgressControl;
  /** What a person named. @throws OrreryError not_found, ambiguous */
  readonly subject: (reference: string) => Promise<EgressSubject>;
};

/** Handlers of the egress operations. */
export const egressHandlers = ({
  egress,
  subject,
}: EgressHandlerParts): Pick<OperationHandlers, 'egressShow' | 'egressAllow' | 'egressDeny'> => {
  type Call = OperationCall<'egressAllow'> | OperationCall<'egressDeny'>;
  const change =
    (decision: 'allow' | 'deny') =>
    async ({ params, body, caller }: Call): Promise<AnswerOf<'egressAllow'>> =>
      egress.change(await subject(params.id), { rule: body.rule, decision, actor: `token:${caller.name}` });
  return {
    egressShow: async ({ params }) => egress.show(await subject(params.id)),
    egressAllow: change('allow'),
    egressDeny: change('deny'),
  };
};
