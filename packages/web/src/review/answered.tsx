import { useNavigate } from '@tanstack/react-router';
import type { AnsweredComment, SentReview } from './answered.ts';
import { visible } from './inert.ts';

/** Text of many lines, inert. */
const shown = (text: string): string => text.split('\n').map(visible).join('\n');

/** What became of the comments that were sent. `waits`: the agent is still at it. */
export const Answered = ({ reviews, waits }: { readonly reviews: readonly SentReview[]; readonly waits: boolean }) =>
  reviews.length === 0 ? null : (
    <section aria-label="Comments that were sent" className="mt-3 border-t border-line px-2 pt-2">
      <h2 className="font-semibold">Comments that were sent</h2>
      {reviews.map((review, place) => (
        <details key={review.sequence ?? place} open={place === 0} className="my-1">
          <summary className="cursor-pointer text-quiet">
            {place === 0 ? 'The newest' : 'Before'}: {review.comments.filter(({ answer }) => answer !== null).length} of{' '}
            {review.comments.length} answered by number
          </summary>
          <ol>
            {review.comments.map((comment) => (
              <One key={comment.number} comment={comment} waits={waits && place === 0} />
            ))}
          </ol>
          <Words text={review.words} />
        </details>
      ))}
    </section>
  );

const One = ({ comment, waits }: { readonly comment: AnsweredComment; readonly waits: boolean }) => {
  const navigate = useNavigate();
  return (
    <li className="border-b border-line py-1">
      <button
        type="button"
        className="said cursor-pointer text-left font-mono text-accent underline"
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- pages share one search
        onClick={() => void navigate({ to: '.', search: { file: comment.path } as never, replace: true })}
      >
        {comment.number}. {visible(comment.path)}:{comment.line}
      </button>
      <p className="said text-quiet">{shown(comment.text)}</p>
      <Answer answer={comment.answer} waits={waits} />
    </li>
  );
};

const Answer = ({ answer, waits }: { readonly answer: string | null; readonly waits: boolean }) => {
  if (answer !== null) return <p className="said whitespace-pre-wrap">→ {shown(answer)}</p>;
  return waits ? <p className="text-quiet">● no answer yet</p> : <p className="text-careful">! no answer by its number</p>;
};

const Words = ({ text }: { readonly text: string }) =>
  text === '' ? null : (
    <details>
      <summary className="cursor-pointer text-quiet">All that was said</summary>
      <p tabIndex={0} className="said max-h-60 overflow-auto rounded bg-raised p-2 whitespace-pre-wrap">
        {shown(text)}
      </p>
    </details>
  );

/** A comment that was sent, at its line of the change, with the answer. */
export const AtLine = ({ comment }: { readonly comment: AnsweredComment }) => (
  <div
    role="note"
    aria-label={`Comment ${comment.number}, sent`}
    className="mx-2 my-1 rounded border border-line bg-ground px-2 py-1"
  >
    <p className="said text-quiet">
      {comment.number}. {shown(comment.text)}
    </p>
    {comment.answer === null ? null : <p className="said whitespace-pre-wrap">→ {shown(comment.answer)}</p>}
  </div>
);
