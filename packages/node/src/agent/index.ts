export { keptText, unheard } from './kept.ts';
export { agentHandlers } from './routes.ts';
export { createAgents, taskWishOf, wishOf, type AgentParts, type Agents, type AgentsAt, type AgentWish } from './service.ts';
export { refuseServers } from './servers.ts';
export { createSkills, type Skills } from './skills.ts';
