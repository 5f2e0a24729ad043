import type { PolicyTested } from '@orrery/protocol';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { LineField } from '../forms/field.tsx';
import { visible } from '../review/inert.ts';
import { node } from '../state/node.ts';
import { Button } from './button.tsx';
import { Mark } from './facts.tsx';
import { Failed } from './states.tsx';

/** The rules tried with a command or a file; nothing is run. */
export const TryRules = ({ project }: { readonly project: string }) => {
  const [command, setCommand] = useState('');
  const [path, setPath] = useState('');
  const [harness, setHarness] = useState('');
  const test = useMutation({
    mutationFn: () =>
      node.call('policyTest', {
        body: {
          ...(project === '' ? {} : { project }),
          ...(harness.trim() === '' ? {} : { harness: harness.trim() }),
          ...(command === '' ? { paths: [path.trim()] } : { command }),
        },
      }),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        test.mutate();
      }}
    >
      <div className="flex flex-wrap gap-x-4">
        <LineField label="A command" value={command} change={setCommand} placeholder="npm test" />
        <LineField label="or a file that is changed" value={path} change={setPath} placeholder="src/a.ts" />
        <LineField label="Program that asks" value={harness} change={setHarness} placeholder="claude" />
      </div>
      <Button type="submit" disabled={test.isPending || (command === '') === (path.trim() === '')}>
        Try it
      </Button>
      <div aria-live="polite">{test.data === undefined ? null : <Said tested={test.data} />}</div>
      {test.error === null ? null : <Failed error={test.error} />}
    </form>
  );
};

const words = { allow: ['good', 'allowed'], deny: ['bad', 'denied'], ask: ['careful', 'asked'] } as const;

const Said = ({ tested: { verdict, rule, text, fits } }: { readonly tested: PolicyTested }) => {
  const [held, word] = verdict === null ? (['careful', 'no rule decides'] as const) : words[verdict];
  return (
    <>
      <p className="said my-1">
        <Mark held={held}>{word}</Mark>
        {rule === null ? '' : ` by ${visible(rule.name)} (${visible(rule.file)})`}: {visible(text)}
      </p>
      {fits
        .filter(({ name, file }) => name !== rule?.name || file !== rule.file)
        .map((one) => (
          <p key={`${one.file} ${one.name}`} className="said text-quiet">
            also: {one.verdict} {visible(one.name)}
          </p>
        ))}
    </>
  );
};
