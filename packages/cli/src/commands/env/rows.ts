import type { ArgumentSpec, CommandSpec, OptionSpec } from '../command.ts';
import { applyOptions } from './apply-options.ts';
import { mergeOptions, pullRequestOptions } from '../pull-request.ts';

const environment: ArgumentSpec = {
  name: 'environment',
  required: true,
  summary: 'id or name of an environment',
  completes: 'environment',
};
const name: OptionSpec = { name: 'name', kind: 'text', value: 'NAME', summary: 'its name (default: one with a number)' };
const backend: OptionSpec = {
  name: 'backend',
  kind: 'text',
  value: 'BACKEND',
  summary: 'where it is',
  completes: 'backend',
};
const image: OptionSpec = {
  name: 'image',
  kind: 'text',
  value: 'IMAGE',
  summary: 'image to make it from, one that the operator allows (docker, kubernetes)',
};
const detach: OptionSpec = { name: 'detach', kind: 'flag', summary: 'do not wait until it is done' };

/** What several verbs have: they begin something and show it until it is done. */
const lasting = { exits: [3, 4, 8, 10, 130, 143] } as const;

const making: readonly CommandSpec[] = [
  {
    noun: 'env',
    verb: 'create',
    summary: 'make an environment of a project: a checkout and a home that stay',
    detail:
      'It is opened on its backend and set up: init.sh of the project, then the setup lines of .orrery/orrery.yaml. What that prints is shown and kept.',
    options: [
      {
        name: 'project',
        kind: 'text',
        value: 'PROJECT',
        summary: 'id, name or path of a project (default: the repository of this folder)',
        completes: 'project',
      },
      name,
      backend,
      image,
      { name: 'base', kind: 'text', value: 'REF', summary: 'branch, tag or commit to begin at (default: what is checked out)' },
      { name: 'stopped', kind: 'flag', summary: 'make it and do not start it' },
      { name: 'no-cache', kind: 'flag', summary: 'set it up though an earlier set-up left its state (cache), and forget that' },
      detach,
    ],
    examples: [
      { line: 'orrery env create --name fix', does: 'in a repository: a place to work in, set up' },
      { line: 'orrery env create --project site --base v2 --detach', does: 'begin it and go on' },
      { line: 'orrery env create --backend docker --image debian:12', does: 'in this image, also after env recreate' },
    ],
    ...lasting,
    changes: 'once',
    operations: ['environmentCreate', 'environmentShow', 'environmentSetupLog', 'projectList', 'projectAdd'],
    load: async () => (await import('./create.ts')).envCreate,
  },
  {
    noun: 'env',
    verb: 'fork',
    summary: 'make another with the same files and the same home',
    detail:
      'Uncommitted and ignored files come along. Nothing may run in the one that is copied: stop it first. On another backend and in another image it is set up again.',
    arguments: [environment],
    options: [name, backend, image, detach],
    examples: [
      { line: 'orrery env fork fix --name try-other-way', does: 'two ways from one state' },
      { line: 'orrery env fork fix --backend ssh', does: 'goes on elsewhere with the same files' },
      { line: 'orrery env fork fix --image debian:13', does: 'the same files in another image' },
    ],
    ...lasting,
    changes: 'once',
    operations: ['environmentFork', 'environmentShow', 'environmentSetupLog'],
    load: async () => (await import('./fork.ts')).envFork,
  },
];

const running: readonly CommandSpec[] = [
  {
    noun: 'env',
    verb: 'start',
    summary: 'open an environment, and set it up when that is still to be done',
    arguments: [environment],
    options: [detach],
    examples: [{ line: 'orrery env start fix', does: 'its files and home are as they were' }],
    ...lasting,
    changes: 'plain',
    operations: ['environmentStart', 'environmentShow', 'environmentSetupLog'],
    load: async () => (await import('./operate.ts')).envStart,
  },
  {
    noun: 'env',
    verb: 'stop',
    summary: 'end every program of an environment; its files stay',
    arguments: [environment],
    options: [detach],
    examples: [{ line: 'orrery env stop fix', does: 'a set-up that runs is ended and has failed' }],
    ...lasting,
    changes: 'plain',
    operations: ['environmentStop', 'environmentShow', 'environmentSetupLog'],
    load: async () => (await import('./operate.ts')).envStop,
  },
  {
    noun: 'env',
    verb: 'recreate',
    summary: 'begin again from a fresh checkout and an empty home',
    detail: 'Work that nothing else has is saved first: orrery salvage list. Ignored files are kept aside for some days.',
    arguments: [environment],
    options: [detach],
    examples: [{ line: 'orrery env recreate fix', does: 'the set-up runs again from the beginning' }],
    ...lasting,
    changes: 'plain',
    operations: ['environmentRecreate', 'environmentShow', 'environmentSetupLog'],
    load: async () => (await import('./operate.ts')).envRecreate,
  },
  {
    noun: 'env',
    verb: 'setup',
    summary: 'run the set-up of an environment again, or go on without it',
    arguments: [environment],
    options: [
      { name: 'override', kind: 'flag', summary: 'do not run it: the environment counts as set up, and says so' },
      detach,
    ],
    examples: [
      { line: 'orrery env setup fix', does: 'after a failure, or when what it needs is there now' },
      { line: 'orrery env setup fix --override', does: 'go on though it failed' },
    ],
    ...lasting,
    changes: 'plain',
    operations: ['environmentSetup', 'environmentShow', 'environmentSetupLog'],
    load: async () => (await import('./operate.ts')).envSetup,
  },
];

const keeping: readonly CommandSpec[] = [
  {
    noun: 'env',
    verb: 'list',
    summary: 'list environments',
    options: [{ name: 'project', kind: 'text', value: 'PROJECT', summary: 'only of one project', completes: 'project' }],
    examples: [{ line: 'orrery env list', does: 'state, backend, disk and last use of each' }],
    operations: ['environmentList'],
    load: async () => (await import('./list.ts')).envList,
  },
  {
    noun: 'env',
    verb: 'show',
    summary: 'show one environment',
    arguments: [environment],
    examples: [{ line: 'orrery env show fix', does: 'its set-up, ports, place and disk' }],
    operations: ['environmentShow'],
    load: async () => (await import('./show.ts')).envShow,
  },
  {
    noun: 'env',
    verb: 'rename',
    summary: 'give an environment another name',
    arguments: [environment, { name: 'name', required: true, summary: 'the new name' }],
    examples: [{ line: 'orrery env rename site-1 fix', does: 'its id stays' }],
    operations: ['environmentSet'],
    changes: 'plain',
    load: async () => (await import('./rename.ts')).envRename,
  },
  {
    noun: 'env',
    verb: 'apply',
    summary: 'bring what an environment holds into the repository',
    detail:
      'Commits, and files that are not committed as one more; nothing in the environment changes. A tree with changes of your own is never touched: it is refused, and nothing is merged over them.',
    arguments: [environment],
    options: applyOptions,
    examples: [
      { line: 'orrery env apply fix', does: 'into the clean tree that is checked out' },
      { line: 'orrery env apply fix --mode branch --branch fix/parser', does: 'as a branch, leaving the tree alone' },
    ],
    operations: ['environmentApply'],
    changes: 'plain',
    load: async () => (await import('./apply.ts')).envApply,
  },
  {
    noun: 'env',
    verb: 'pr',
    summary: 'push what an environment holds and open a pull request',
    detail:
      'Commits, and files that are not committed as one more; nothing in the environment changes. Run again it brings the same pull request up to what is there then.',
    arguments: [environment],
    options: pullRequestOptions,
    examples: [{ line: 'orrery env pr fix --title "Fix the parser"', does: 'what its sessions did, at the code host' }],
    operations: ['environmentPullRequestOpen'],
    changes: 'once',
    load: async () => (await import('./pr.ts')).envPr,
  },
  {
    noun: 'env',
    verb: 'merge',
    summary: 'have the code host merge the pull request of an environment',
    detail: 'The commit that the host has now, and only where its rules let it be merged; the environment stays as it is.',
    arguments: [environment],
    options: mergeOptions,
    examples: [{ line: 'orrery env merge fix', does: 'in the first way that the repository allows' }],
    operations: ['environmentPullRequestMerge'],
    changes: 'plain',
    load: async () => (await import('./merge.ts')).envMerge,
  },
  {
    noun: 'env',
    verb: 'delete',
    summary: 'delete an environment',
    detail: 'It is refused while it holds work that nothing else has; --salvage saves that first.',
    arguments: [environment],
    options: [{ name: 'salvage', kind: 'flag', summary: 'save unsaved work first' }],
    examples: [{ line: 'orrery env delete fix --salvage', does: 'what it held is in orrery salvage list' }],
    operations: ['environmentShow', 'environmentDelete'],
    changes: 'plain',
    load: async () => (await import('./delete.ts')).envDelete,
  },
  {
    noun: 'env',
    verb: 'prune',
    summary: 'delete stopped environments that nobody used for long',
    detail: 'One that runs, or holds work that nothing else has, stays and is named with the reason.',
    options: [
      { name: 'dry-run', kind: 'flag', summary: 'only say which' },
      {
        name: 'older-than',
        kind: 'duration',
        value: 'TIME',
        summary: 'not used for so long (default: retention.environmentDays)',
      },
    ],
    examples: [{ line: 'orrery env prune --dry-run --older-than 30d', does: 'what would go, and what would stay and why' }],
    operations: ['environmentPrune'],
    changes: 'plain',
    load: async () => (await import('./prune.ts')).envPrune,
  },
];

export const envCommands: readonly CommandSpec[] = [...making, ...running, ...keeping];
