// A program that asks for the clipboard (OSC 52) gets it from a person alone, and never reads it.

import { useEffect, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { visible } from '../review/inert.ts';
import { clipboardText } from './clipboard-text.ts';

/** What a program asks for in its own words; null: nothing. Each time is another object. */
export type ClipboardAsk = { readonly payload: string } | null;

const SHOWN_CHARS = 60;

/** Says what a program wants to copy, until a person allows it; once they allowed all, it is copied as it comes. */
export const ClipboardPermission = ({ ask }: { readonly ask: ClipboardAsk }) => {
  const [allowed, setAllowed] = useState(false);
  const [open, setOpen] = useState<string | null>(null);
  const [copied, setCopied] = useState('');
  const copy = (text: string): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        setOpen(null);
        setCopied(`Copied ${text.length} characters for the program.`);
      },
      // Not allowed by the browser while nobody looks: it stays asked for.
      () => setOpen(text),
    );
  };
  useEffect(() => {
    const text = ask === null ? null : clipboardText(ask.payload);
    if (text === null) return;
    setCopied('');
    if (allowed) copy(text);
    else setOpen(text);
    // What was asked before is not asked again when it is allowed.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [ask]);
  if (open === null) return <span role="status">{copied}</span>;
  const more = open.length > SHOWN_CHARS ? ` … (${open.length} characters)` : '';
  return (
    <span role="group" aria-label="Clipboard" className="flex flex-wrap items-center gap-x-2">
      <span className="said text-careful">
        ! The program asks to copy: {visible(open.slice(0, SHOWN_CHARS))}
        {more}
      </span>
      <Button onClick={() => copy(open)}>Copy it</Button>
      <Button
        onClick={() => {
          setAllowed(true);
          copy(open);
        }}
      >
        Always in this terminal
      </Button>
      <Button onClick={() => setOpen(null)}>No</Button>
    </span>
  );
};
