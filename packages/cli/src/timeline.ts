import type { OrreryEvent } from '@orrery/protocol';
import { inert, inertLine } from './inert.ts';
import { contentLines } from './content-lines.ts';
import { fit, type Screen } from './screen.ts';
import { durationText } from './wording.ts';

/** Lines of a failed script's output that are shown. */
const TAIL_LINES = 20;
/** Characters of a script's output that are kept for its tail. */
const TAIL_CHARS = 16_384;

/** What goes on, for a line that is overwritten. */
export type Doing = { readonly what: string; readonly sinceMs: number };

/**
 * Turns the events of a task into lines for a person: two columns of gutter with `✓ ! ✗` for state alone, stages with times,
 * what the agent says dimmed, one line for each tool call, the tail of what failed. Text comes out when it is complete: a
 * later event of the same row replaces it.
 */
export type Timeline = {
  lines(event: OrreryEvent): string[];
  /** What is still held back. */
  flush(): string[];
  doing(): Doing | null;
};

type State = {
  said: { row: string; text: string } | null;
  tail: string;
  doing: Doing | null;
  backend: string;
};

export const createTimeline = (screen: Screen): Timeline => {
  const state: State = { said: null, tail: '', doing: null, backend: '' };
  return {
    lines: (event) => [...(continuesText(state, event) ? [] : flushText(state, screen)), ...linesOf(event, state, screen)],
    flush: () => flushText(state, screen),
    doing: () => state.doing,
  };
};

const continuesText = (state: State, { body }: OrreryEvent): boolean => body.kind === 'text' && state.said?.row === body.row;

const flushText = (state: State, screen: Screen): string[] => {
  const text = state.said === null ? '' : inert(state.said.text).trim();
  state.said = null;
  return text === '' ? [] : text.split('\n').map((line) => (line === '' ? '' : `    ${screen.dim(line)}`));
};

const label = (name: string): string => name.padEnd(9);

const linesOf = ({ body, at, sessionId }: OrreryEvent, state: State, screen: Screen): string[] => {
  switch (body.kind) {
    case 'task.state':
      if (body.state === 'waiting') state.doing = { what: 'waiting', sinceMs: Date.parse(at) };
      return body.state === 'waiting' ? [`${screen.careful('!')} waiting   ${inertLine(body.waitingFor ?? '')}`.trimEnd()] : [];
    case 'attempt.started':
      state.backend = inertLine(body.backend);
      return [`  attempt ${body.attempt} on ${state.backend}`];
    case 'stage.started':
      return startStage(body, { state, at, screen });
    case 'stage.output':
      state.tail = (state.tail + body.text).slice(-TAIL_CHARS);
      return [];
    case 'stage.ended':
      return endStage(body, state, screen);
    case 'attempt.ended':
      state.doing = null;
      return [];
    case 'egress.refused':
      return [`${screen.careful('!')} refused   ${inertLine(body.host)}:${body.port}, ${inertLine(body.reason)}`];
    case 'egress.changed':
      return [`  ${label('egress')} ${body.decision} ${inertLine(body.rule)}`];
    case 'task.applied':
      return [`${screen.good('✓')} applied   ${inertLine(body.branch ?? '')} ${body.headSha.slice(0, 10)}`];
    case 'task.pull-request':
      return [`${screen.good('✓')} pull req. #${body.number} ${body.state}  ${inertLine(body.url)}`];
    default:
      return (
        (sessionId === undefined ? null : sessionLines(body, screen)) ??
        contentLines(body, screen) ??
        conversationLines(body, state, screen)
      );
  }
};

type Body = OrreryEvent['body'];

const saidText = (answers: Extract<Body, { kind: 'interaction.settled' }>['answers']): string =>
  answers === null
    ? ''
    : `: ${Object.entries(answers)
        .map(([key, value]) => inertLine(`${key} ${String(value)}`))
        .join(', ')}`;

/** What only a session says; null: nothing of that. */
const sessionLines = (body: Body, screen: Screen): string[] | null => {
  switch (body.kind) {
    case 'user':
      return [
        ...inert(body.text)
          .split('\n')
          .map((line) => `> ${line}`),
        ...(body.attachments ?? []).map(({ name, mediaType }) => `> [${inertLine(name)}, ${mediaType}]`),
      ];
    case 'interaction.opened':
      return [
        `${screen.careful('!')} asks      ${inertLine(body.ask.title)}${body.ask.command === null ? '' : `: ${inertLine(body.ask.command)}`}`,
      ];
    case 'interaction.settled':
      return [
        `  ${label('answer')} ${body.outcome}${body.by === null ? '' : ` by ${inertLine(body.by)}`}${saidText(body.answers)}`,
      ];
    case 'rewound':
      return rewoundLines(body, screen);
    case 'turn.parked':
      return [`${screen.careful('!')} uncertain ${inertLine(body.reason)}`];
    default:
      return null;
  }
};

const rewoundLines = (body: Body & { kind: 'rewound' }, screen: Screen): string[] => {
  const what = body.files && body.conversation ? 'files and conversation' : body.files ? 'files' : 'conversation';
  const to = body.turn === null ? body.checkpointId : `before turn ${body.turn}`;
  const undone = body.conversation ? `; events after ${body.after} are undone` : '';
  return [`${screen.careful('!')} went back ${what}, ${to}${undone}`];
};

const startStage = (
  body: Body & { kind: 'stage.started' },
  { state, at, screen }: { state: State; at: string; screen: Screen },
): string[] => {
  state.tail = '';
  state.doing = { what: body.round > 1 ? `${body.stage} (round ${body.round})` : body.stage, sinceMs: Date.parse(at) };
  if (body.stage !== 'drive') return [];
  return [`  ${label('agent')} round ${body.round}${body.round > 1 ? screen.dim(' (sent back with what validation said)') : ''}`];
};

const MARKS = { passed: '✓', failed: '✗', timeout: '✗', interrupted: '!', skipped: ' ' } as const;

const endStage = (body: Body & { kind: 'stage.ended' }, state: State, screen: Screen): string[] => {
  state.doing = null;
  if (body.state === 'skipped' && body.note === null) return [];
  const paint = {
    passed: screen.good,
    skipped: screen.dim,
    interrupted: screen.careful,
    failed: screen.bad,
    timeout: screen.bad,
  }[body.state];
  const why = [
    body.state === 'timeout' ? 'out of time' : '',
    body.state === 'interrupted' ? 'interrupted' : '',
    body.exitCode !== null && body.exitCode !== 0 ? `exit ${body.exitCode}` : '',
    body.note === null ? '' : inertLine(body.note),
  ].filter((part, place, all) => part !== '' && all.indexOf(part) === place);
  const head = `${paint(MARKS[body.state])} ${label(body.stage)} ${durationText(body.tookMs).padStart(8)}${why.length === 0 ? '' : `  ${why.join(', ')}`}`;
  return body.state === 'passed' ? [head] : [head, ...tailLines(state.tail, screen)];
};

const tailLines = (tail: string, screen: Screen): string[] => {
  const lines = inert(tail).trimEnd().split('\n');
  if (lines.length === 1 && lines[0] === '') return [];
  const left = lines.length - TAIL_LINES;
  return [
    ...(left > 0 ? [`    ${screen.dim(`│ … ${left} more lines`)}`] : []),
    ...lines.slice(-TAIL_LINES).map((line) => `    ${screen.dim('│')} ${line}`),
  ];
};

const conversationLines = (body: Body, state: State, screen: Screen): string[] => {
  switch (body.kind) {
    case 'text':
      // What a sub-agent says is told by what it came to; its tool calls are shown.
      if (body.agent !== undefined) return [];
      state.said = { row: body.row, text: body.text };
      return [];
    case 'tool.call':
      return [
        `    ${body.agent === undefined ? '' : '  '}${fit(`→ ${inertLine(body.tool)}  ${inertLine(body.input)}`, screen.columns - 4)}`,
      ];
    case 'tool.result':
      return body.failed
        ? [
            `  ${screen.careful('!')} ${fit(`${inertLine(body.tool ?? 'tool')} failed: ${inertLine(body.output.slice(0, 2000))}`, screen.columns - 4)}`,
          ]
        : [];
    case 'notice':
      return [
        body.level === 'info'
          ? `  ${inertLine(body.text)}`
          : `${body.level === 'error' ? screen.bad('✗') : screen.careful('!')} ${inertLine(body.text)}`,
      ];
    case 'turn.ended':
      return body.outcome === 'success'
        ? []
        : [
            `${screen.careful('!')} ${label('turn')} ${[body.outcome, body.failure ?? '', inertLine(body.message ?? '')].filter((part) => part !== '').join(': ')}`,
          ];
    default:
      return [];
  }
};
