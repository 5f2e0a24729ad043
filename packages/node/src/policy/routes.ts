import type { OperationHandlers } from '@orrery/protocol';
import type { Policies } from './service.ts';

/** Handlers of the policy operations. */
export const policyHandlers = (
  policies: Policies,
): Pick<OperationHandlers, 'policyList' | 'policyTest' | 'policyPropose' | 'policyAdd'> => ({
  policyList: ({ query }) => policies.list(query.project ?? null),
  policyTest: ({ body }) => policies.test(body),
  policyPropose: ({ params }) => policies.propose(params.id),
  policyAdd: ({ params, body, caller }) => policies.add(params.id, { ...body, by: caller.name }),
});
