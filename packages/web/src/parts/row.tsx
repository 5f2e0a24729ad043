import type { OrreryEvent } from '@orrery/protocol';
import { useMemo, useState } from 'react';
import { visible, withoutStyles } from '../review/inert.ts';
import { Beside, Plan } from '../session/beside.tsx';
import { Edits } from '../session/edits.tsx';
import { Given } from '../session/given.tsx';
import { ToolPictures } from '../session/picture.tsx';
import { bookkeeping } from '../session/said.ts';
import { toolInputOf } from '../session/tool-input.ts';
import { Words } from '../session/words.tsx';

/** Lines of a tool's output that stand there unfolded. */
const SHOWN_LINES = 6;

type RowProps = { readonly event: OrreryEvent; readonly undone: boolean };

/** One row of a transcript. What is undone, or of a sub-agent, stands apart. All of it is text: nothing an agent writes is obeyed by the page. */
export const TranscriptRow = ({ event, undone }: RowProps) => {
  const ofAgent = 'agent' in event.body && event.body.agent !== undefined;
  if (!undone && !ofAgent) return <Plain event={event} />;
  return (
    <div className={`border-l-2 pl-3 ${undone ? 'border-dashed border-careful text-quiet' : 'border-line'}`}>
      <span className="sr-only">{undone ? 'undone' : 'of a sub-agent'}</span>
      <Plain event={event} />
    </div>
  );
};

const Plain = ({ event }: { readonly event: OrreryEvent }) => {
  const { body } = event;
  switch (body.kind) {
    case 'user':
      return <Given body={body} session={event.sessionId} />;
    case 'plan':
      return <Plan entries={body.entries} />;
    case 'agent':
    case 'background':
      return <Beside side={body} />;
    case 'text':
      return <Words text={body.text} />;
    case 'thinking':
      return <Folded summary="Thinking" text={body.text} />;
    case 'tool.call':
      return <Call tool={body.tool} input={body.input} />;
    case 'tool.result':
      return (
        <>
          <Output text={body.output} failed={body.failed} />
          {body.pictures === undefined ? null : <ToolPictures session={event.sessionId} pictures={body.pictures} />}
        </>
      );
    case 'notice':
      return <p className={`said my-1 ${body.level === 'info' ? 'text-quiet' : 'text-careful'}`}>{body.text}</p>;
    case 'interaction.settled':
      return (
        <p className="my-1 text-quiet">
          {body.asked}: {body.outcome}
          {body.by === null ? '' : ` by ${body.by}`}
        </p>
      );
    case 'turn.parked':
      return <p className="said my-1 text-careful">! {body.reason}</p>;
    case 'turn.ended':
      return <TurnEnd outcome={body.outcome} message={body.message} />;
    default:
      return <p className="said my-1 text-quiet">{bookkeeping(body)}</p>;
  }
};

const Call = ({ tool, input }: { readonly tool: string; readonly input: string }) => {
  const given = useMemo(() => toolInputOf(input), [input]);
  return (
    <>
      <p className="said mt-2 font-mono text-quiet">
        <span className="text-accent">→ {tool}</span> {given.kind === 'edit' ? null : visible(given.text)}
      </p>
      {given.kind === 'edit' ? <Edits edits={given.edits} /> : null}
    </>
  );
};

const TurnEnd = ({ outcome, message }: { readonly outcome: string; readonly message: string | null }) =>
  outcome === 'success' ? (
    <hr className="my-3 border-line" />
  ) : (
    <p className="said my-2 border-b border-line pb-2 text-bad">
      ✗ {outcome}
      {message === null ? '' : `: ${message}`}
    </p>
  );

const Folded = ({ summary, text }: { readonly summary: string; readonly text: string }) => (
  <details className="my-1 text-quiet">
    <summary className="cursor-pointer">{summary}</summary>
    <p className="said border-l-2 border-line pl-3">{text}</p>
  </details>
);

const Output = ({ text, failed }: { readonly text: string; readonly failed: boolean }) => {
  const [open, setOpen] = useState(false);
  const lines = withoutStyles(text).trimEnd().split('\n');
  const hidden = open ? 0 : Math.max(0, lines.length - SHOWN_LINES);
  if (text.trim() === '') return failed ? <p className="text-bad">✗ failed</p> : null;
  return (
    <div className={`my-1 border-l-2 pl-3 ${failed ? 'border-bad' : 'border-line'}`}>
      {hidden > 0 ? (
        <button type="button" className="cursor-pointer text-accent underline" onClick={() => setOpen(true)}>
          {hidden} lines before
        </button>
      ) : null}
      <pre className="said font-mono">{lines.slice(hidden).join('\n')}</pre>
    </div>
  );
};
