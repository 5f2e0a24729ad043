export { createForwarding, type Forwarding } from './forwarding.ts';
export { createOpenPlaces, type OpenPlaces } from './open-places.ts';
export { insideHandlers } from './terminal-routes.ts';
export { createScreens, type OpenScreen, type ScreenAsked, type Screens } from './screens.ts';
export { createTerminals, type Terminals } from './terminals.ts';
export type { ViewerDoor } from './terminal-model.ts';
export { createPortAllocator, type PortAllocator } from './ports.ts';
export { recordedEnvironment, type RecordedEnvironment } from './record.ts';
export {
  branchOfEnvironment,
  imageAsked,
  portsOf,
  setupOf,
  setupPending,
  whyBusy,
  whyNotReady,
  type EnvironmentBranch,
  type NamedPorts,
  type NamedRow,
  type SetupRecord,
} from './model.ts';
export { changeNamed, findNamed, listNamed, measureNamed, namedById } from './named-store.ts';
export { environmentHandlers } from './routes.ts';
export type { EnvironmentConductor } from './doors.ts';
export { createEnvironments, type Environments } from './service.ts';
export { noteInSetupLog, setupLogFile } from './setup-log.ts';
export {
  endLostRuns,
  findEnvironment,
  findRun,
  insertEnvironment,
  insertRun,
  openEnvironments,
  runsOfAttempt,
  updateEnvironment,
  updateRun,
  type RunRow,
} from './store.ts';
