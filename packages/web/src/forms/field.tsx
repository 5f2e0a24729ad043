import { useId } from 'react';
import { Failed } from '../parts/states.tsx';

type Around = {
  readonly label: string;
  readonly hint?: React.ReactNode;
  /** What the node refused because of this field. */
  readonly error?: unknown;
};

const look = 'w-full rounded border border-line bg-ground px-2';

/** A field with its name before it, and what was refused of it behind it. */
const Field = ({ label, hint, error, children }: Around & { readonly children: (given: Given) => React.ReactNode }) => {
  const id = useId();
  const refused = error !== undefined && error !== null;
  return (
    <div className="my-2 max-w-2xl">
      <label htmlFor={id} className="block font-semibold">
        {label}
      </label>
      {children({ id, 'aria-invalid': refused, 'aria-describedby': `${id}-more` })}
      <div id={`${id}-more`} className="text-quiet">
        {hint}
        {refused ? <Failed error={error} /> : null}
      </div>
    </div>
  );
};

type Given = { readonly id: string; readonly 'aria-invalid': boolean; readonly 'aria-describedby': string };

type Said = Around & {
  readonly value: string;
  readonly change: (value: string) => void;
  readonly focus?: boolean;
};

/** One line; `choices` are offered, anything may be written. */
export const LineField = ({
  value,
  change,
  focus = false,
  placeholder,
  choices = [],
  ...around
}: Said & { readonly placeholder?: string; readonly choices?: readonly string[] }) => (
  <Field {...around}>
    {(given) => (
      <>
        <input
          {...given}
          autoFocus={focus}
          value={value}
          placeholder={placeholder}
          list={choices.length === 0 ? undefined : `${given.id}-choices`}
          onChange={({ target }) => change(target.value)}
          className={`${look} h-7`}
        />
        {choices.length === 0 ? null : (
          <datalist id={`${given.id}-choices`}>
            {choices.map((choice) => (
              <option key={choice} value={choice} />
            ))}
          </datalist>
        )}
      </>
    )}
  </Field>
);

/** What can be chosen: its value, its name, and whether it can be chosen now. */
export type Choice = { readonly value: string; readonly name: string; readonly disabled?: boolean };

/** One of some. */
export const ChoiceField = ({
  value,
  change,
  choices,
  focus = false,
  ...around
}: Said & { readonly choices: readonly Choice[] }) => (
  <Field {...around}>
    {(given) => (
      <select
        {...given}
        autoFocus={focus}
        value={value}
        onChange={({ target }) => change(target.value)}
        className={`${look} h-7`}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value} disabled={choice.disabled}>
            {choice.name}
          </option>
        ))}
      </select>
    )}
  </Field>
);

/** Words of any length. */
export const WordsField = ({
  value,
  change,
  focus = false,
  placeholder,
  ...around
}: Said & { readonly placeholder?: string }) => (
  <Field {...around}>
    {(given) => (
      <textarea
        {...given}
        autoFocus={focus}
        rows={5}
        value={value}
        placeholder={placeholder}
        onChange={({ target }) => change(target.value)}
        className={`said ${look} resize-y py-1`}
      />
    )}
  </Field>
);
