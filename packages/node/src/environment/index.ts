export { createPortAllocator, type NamedPorts, type PortAllocator } from './ports.ts';
export { recordedEnvironment, type RecordedEnvironment } from './record.ts';
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
