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
