export { agentHandlers } from './routes.ts';
export { createAgents, wishOf, type Agents, type AgentsAt, type AgentWish } from './service.ts';
