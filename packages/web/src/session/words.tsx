import { useMemo } from 'react';
import { Copy } from '../parts/copy.tsx';
import { blocksOf, spansOf, type Block } from './marked.ts';

/** What an agent says, with its headings, lists and code. All of it stays text. */
export const Words = ({ text }: { readonly text: string }) => {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return (
    <div className="my-2">
      {blocks.map((block, place) => (
        // The parts of a text have no names of their own.
        // eslint-disable-next-line react/no-array-index-key
        <Part key={place} block={block} />
      ))}
    </div>
  );
};

const Part = ({ block }: { readonly block: Block }) => {
  switch (block.kind) {
    case 'line':
      return <hr className="my-2 border-line" />;
    case 'code':
      return <Code text={block.text} language={block.language} />;
    case 'table':
      return <pre className="my-2 overflow-x-auto font-mono">{block.text}</pre>;
    case 'heading':
      // The page's own headings are the page's: these are words that stand out.
      return (
        <p className={`said mt-3 mb-1 font-semibold ${block.level === 1 ? 'text-[15px]' : ''}`}>
          <Spans text={block.text} />
        </p>
      );
    case 'item':
      return (
        <p className="said my-0.5 flex gap-2" style={{ paddingLeft: `${block.depth + 0.25}rem` }}>
          <span className="shrink-0 text-quiet">{block.mark}</span>
          <span className="min-w-0">
            <Spans text={block.text} />
          </span>
        </p>
      );
    default:
      return (
        <p className={`said my-2 ${block.kind === 'quote' ? 'border-l-2 border-line pl-3 text-quiet' : ''}`}>
          <Spans text={block.text} />
        </p>
      );
  }
};

const Code = ({ text, language }: { readonly text: string; readonly language: string }) => (
  <div className="my-2 rounded border border-line bg-raised">
    <p className="flex justify-between gap-2 px-2 text-quiet">
      <span className="said">{language}</span>
      <Copy text={text} name="Copy" />
    </p>
    <pre tabIndex={0} className="overflow-x-auto px-2 pb-2 font-mono">
      {text}
    </pre>
  </div>
);

const Spans = ({ text }: { readonly text: string }) => {
  const spans = useMemo(() => spansOf(text), [text]);
  return spans.map(({ look, text: words }, place) =>
    look === 'code' ? (
      // eslint-disable-next-line react/no-array-index-key
      <code key={place} className="rounded bg-raised px-1 font-mono">
        {words}
      </code>
    ) : look === 'strong' ? (
      // eslint-disable-next-line react/no-array-index-key
      <strong key={place} className="font-semibold">
        {words}
      </strong>
    ) : (
      words
    ),
  );
};
