import type { OperationHandlers } from '@orrery/protocol';
import type { Usage } from './usage.ts';

/** Handler of the usage operation. */
export const usageHandlers = (usage: Usage): Pick<OperationHandlers, 'usageShow'> => ({
  usageShow: async ({ query }) => ({ items: [...(await usage.byModel(query.task ?? null))] }),
});
