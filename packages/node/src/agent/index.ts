export { keptText, unheard } from './kept.ts';
export { agentHandlers } from './routes.ts';
export { createAgents, taskWishOf, wishOf, type Agents, type AgentsAt, type AgentWish } from './service.ts';
