// The door of policies.

export { holdsOrders, insideOf } from './checkout-paths.ts';
export { policyHandlers } from './routes.ts';
export { createPolicies, type Policies, type Subject } from './service.ts';
