// The door of policies.

export { holdsOrders, insideOf, SOME_CHECKOUT } from './checkout-paths.ts';
export { policyHandlers } from './routes.ts';
export { createPolicies, type Policies, type Subject } from './service.ts';
