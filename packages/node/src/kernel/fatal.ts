import { errorFields, type Log } from './log.ts';

/** Exit code of a node that met a failure nobody handled: recovery at the next start is the only safe way on. */
export const FATAL_EXIT_CODE = 70;

/** The part of `process` that is used. */
export type FatalProcess = {
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (thrown: unknown) => void): unknown;
  off(event: 'uncaughtException' | 'unhandledRejection', listener: (thrown: unknown) => void): unknown;
  exit(code: number): unknown;
};

/**
 * Makes an unhandled exception or rejection end the process: state in memory can no longer be trusted, what is on disk
 * can. One log line (kind and place, no text of the error), then exit 70. Answers the way to take it off again.
 */
export const installFatal = ({ log, process: host = process }: { log: Log; process?: FatalProcess }): (() => void) => {
  const end = (event: string) => (thrown: unknown) => {
    log.error(event, errorFields(thrown));
    host.exit(FATAL_EXIT_CODE);
  };
  const onException = end('fatal.exception');
  const onRejection = end('fatal.rejection');
  host.on('uncaughtException', onException);
  host.on('unhandledRejection', onRejection);
  return () => {
    host.off('uncaughtException', onException);
    host.off('unhandledRejection', onRejection);
  };
};
