import { useState } from 'react';
import { Button } from './button.tsx';

/** A button for what cannot be taken back: the first click says what will happen, the second does it. */
export const Sure = (props: {
  readonly name: string;
  /** What will happen, said before it does. */
  readonly says: string;
  readonly disabled: boolean;
  readonly act: () => void;
}) => {
  const [asked, setAsked] = useState(false);
  if (!asked)
    return (
      <Button disabled={props.disabled} onClick={() => setAsked(true)}>
        {props.name} …
      </Button>
    );
  return (
    <span className="inline-flex flex-wrap items-center gap-2 rounded border border-line px-2">
      <span className="said">{props.says}</span>
      <Button
        look="bad"
        autoFocus
        disabled={props.disabled}
        onClick={() => {
          setAsked(false);
          props.act();
        }}
      >
        {props.name}
      </Button>
      <Button onClick={() => setAsked(false)}>Leave it</Button>
    </span>
  );
};
