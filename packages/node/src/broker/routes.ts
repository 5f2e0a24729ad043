import type { AnswerOf, OperationCall, OperationHandlers } from '@orrery/protocol';
import type { EgressControl } from './egress-control.ts';
import type { EgressSubject } from './run-tokens.ts';

export type EgressHandlerParts = {
  readonly egress: EgressControl;
  /** The id of a task by what a person typed. @throws OrreryError not_found, ambiguous */
  readonly taskId: (reference: string) => Promise<string>;
};

/** Handlers of the egress operations. */
export const egressHandlers = ({
  egress,
  taskId,
}: EgressHandlerParts): Pick<OperationHandlers, 'egressShow' | 'egressAllow' | 'egressDeny'> => {
  const subject = async (reference: string): Promise<EgressSubject> =>
    reference.startsWith('env_') ? { environmentId: reference } : { taskId: await taskId(reference) };
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
