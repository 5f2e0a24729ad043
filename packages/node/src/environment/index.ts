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
  type EnvironmentRow,
  type RunRow,
} from './store.ts';
