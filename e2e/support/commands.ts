// Tasks of the harness `command`: what their program does is the text of a shell script.
import type { Client } from '@orrery/client';
import { OrreryError, type Task, type TaskCreate } from '@orrery/protocol';
import type { CliAnswer } from './cli.ts';
import type { Place } from './place.ts';
import { makeRepository, type Hooks } from './repository.ts';
import { taskEnd } from './wait.ts';

/** A shell that runs a script. */
export const sh = (script: string): string[] => ['sh', '-c', script];

/** What a suite does with commands on its node. */
export type Commands = {
  /** Sends a command as a task; answers its id. */
  send(script: string, more?: Partial<TaskCreate>): Promise<string>;
  /** Sends it and waits for its end. */
  conduct(script: string, more?: Partial<TaskCreate>): Promise<Task>;
  /** A repository with hooks and a project file that the node knows; answers its path. */
  project(name: string, hooks?: Hooks, settings?: string): Promise<string>;
  /** `orrery run --json` of a command in a repository. */
  run(repository: string, script: string, ...options: string[]): Promise<CliAnswer>;
};

/** Commands on the node of a place; the client is asked for when it is needed, after the node was started. */
export const commandsOn = (place: Place, client: () => Client): Commands => {
  const send: Commands['send'] = async (script, more = {}) =>
    (await client().call('taskAdd', { body: { prompt: 'a prompt', harness: 'command', command: sh(script), ...more } })).id;
  return {
    send,
    conduct: async (script, more) => taskEnd(client(), await send(script, more)),
    project: async (name, hooks = {}, settings) => {
      const repository = makeRepository(place, name, { ...hooks, settings });
      await client().call('projectAdd', { body: { source: repository } });
      return repository;
    },
    run: (repository, script, ...options) =>
      place.cli(['run', '--json', ...options, '--command', 'a prompt', '--', ...sh(script)], { cwd: repository }),
  };
};

/** The code with which work is refused; `no failure` when it is not. */
export const codeOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no failure',
    (thrown: unknown) => (thrown instanceof OrreryError ? thrown.code : String(thrown)),
  );

/** How a task ended. */
export const verdictOf = ({ verdict, cause }: Task): readonly unknown[] => [verdict, cause];
