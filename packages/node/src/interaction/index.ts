export { answersOf, askOf, type InteractionRow } from './model.ts';
export { interactionHandlers } from './routes.ts';
export { createInteractions, type Interactions } from './service.ts';
export {
  countOpen,
  findInteraction,
  listInteractions,
  markTold,
  openInteraction,
  removeInteractions,
  removeOldInteractions,
  settleInteraction,
  untold,
} from './store.ts';
