import type { OrreryEvent } from '@orrery/protocol';
import type { Connection } from '../../connect.ts';
import { readDescriptor } from '../../descriptor.ts';
import { inertLine } from '../../inert.ts';
import { durationText } from '../../wording.ts';
import type { Screen } from '../../screen.ts';
import type { Command, CommandContext, Outcome } from '../command.ts';

/** `orrery up`: starts the node's program; in the foreground it shows what happens, from the node's own events. */
export const up: Command = async (context) => {
  const { input, world, paths, nodeArguments } = context;
  const listen = input.text('listen');
  const detach = input.flag('detach');
  const args = [
    ...nodeArguments,
    ...(listen === null ? [] : ['--listen', listen]),
    ...(input.flag('insecure-bind') ? ['--insecure-bind'] : []),
    ...(detach ? ['--detach'] : []),
  ];
  context.note('  Starting the node.');
  const { url, node } = await world.processes.startNode({ args, logFile: detach ? paths.upLog : null });
  if (detach) {
    const descriptor = await readDescriptor(paths.descriptor);
    return {
      result: { url, node: descriptor },
      text: `${context.screen.good('✓')} The node runs at ${url}`,
      hints: ['  orrery run "fix the failing test"', '  orrery status', '  orrery down'],
    };
  }
  return foreground(context, { url, node });
};

type Started = Awaited<ReturnType<CommandContext['world']['processes']['startNode']>>;

const foreground = async (context: CommandContext, { url, node }: Started): Promise<Outcome> => {
  const { world, screen } = context;
  context.data({
    text: `${screen.good('✓')} The node runs at ${url}  ${screen.dim('Ctrl-C stops it.')}`,
    json: { ready: true, url },
  });
  const quiet = new AbortController();
  let asked = 0;
  const release = world.onStop(() => {
    context.note(
      asked++ === 0
        ? '  Stopping when the running tasks are over; Ctrl-C again stops at once, and agents go on in their keepers.'
        : '  Stopping at once.',
    );
    node.stop();
  });
  const shown = context.connect().then((connection) => showEvents(context, connection, quiet.signal));
  // The live lines are a comfort: the node runs on without them.
  const lines = shown.catch((thrown: unknown) =>
    context.warn(`Live lines ended: ${thrown instanceof Error ? thrown.message : 'unknown'}`),
  );
  const code = await node.ended;
  quiet.abort();
  await lines;
  release();
  return { result: { ended: code }, text: '  The node has stopped.' };
};

const showEvents = async (context: CommandContext, connection: Connection, signal: AbortSignal): Promise<void> => {
  for await (const event of connection.client.events({ after: connection.node.seq, signal, onReset: () => undefined })) {
    context.data({ text: nodeLine(context.screen, event), json: event });
  }
};

/** One line for what a person wants to see of the whole node; null for the rest. */
export const nodeLine = (screen: Screen, { body, taskId }: OrreryEvent): string | null => {
  const task = taskId ?? '';
  switch (body.kind) {
    case 'node.recovered':
      return `  recovered  ${body.tasks} tasks in ${durationText(body.tookMs)}: ${body.reattached} go on, ${body.interrupted} interrupted`;
    case 'task.created':
      return `  queued     ${task}`;
    case 'attempt.started':
      return `  attempt ${body.attempt}  ${task}  ${inertLine(body.backend)}`;
    case 'stage.ended':
      return body.state === 'failed' || body.state === 'timeout'
        ? `${screen.careful('!')} ${body.stage.padEnd(10)} ${task}  ${body.state}${body.exitCode === null ? '' : `, exit ${body.exitCode}`}`
        : null;
    case 'task.state':
      return body.state === 'waiting' ? `${screen.careful('!')} waiting    ${task}  ${inertLine(body.waitingFor ?? '')}` : null;
    case 'task.ended':
      return `${body.verdict === 'accepted' ? screen.good('✓') : screen.bad('✗')} ${body.verdict.padEnd(10)} ${task}  ${inertLine(body.reason ?? '')}`.trimEnd();
    case 'salvage.saved':
      return `  saved      ${inertLine(body.ref)}`;
    case 'queue.paused':
      return `${screen.careful('!')} The queue is paused.`;
    case 'queue.resumed':
      return '  The queue goes on.';
    default:
      return null;
  }
};
