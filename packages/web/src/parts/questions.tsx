import type { InteractionAsk, InteractionAnswer } from '@orrery/protocol';

type Question = InteractionAsk['questions'][number];
type Answers = NonNullable<InteractionAnswer['answers']>;
type Value = Answers[string];

/** What an agent wants to know, each with what fits; what is said is checked by the node. */
export const Questions = (props: {
  /** What stands above them already: a question that says the same is not read twice. */
  readonly title: string;
  readonly questions: readonly Question[];
  readonly answers: Answers;
  readonly change: (answers: Answers) => void;
}) => (
  <>
    {props.questions.map((asked) => (
      <fieldset key={asked.key} className="my-2">
        <legend className={asked.text === props.title ? 'sr-only' : 'said'}>
          {asked.text}
          {asked.required ? '' : ' (may be left out)'}
        </legend>
        <Field
          asked={asked}
          value={props.answers[asked.key] ?? asked.initial}
          change={(value) => props.change({ ...props.answers, [asked.key]: value })}
        />
      </fieldset>
    ))}
  </>
);

/** The answers as they are sent: with what stands there when nothing was said. */
export const withInitial = (questions: readonly Question[], answers: Answers): Answers => ({
  ...Object.fromEntries(questions.flatMap(({ key, initial }) => (initial === null ? [] : [[key, initial]]))),
  ...answers,
});

type FieldProps = { readonly asked: Question; readonly value: Value | null; readonly change: (value: Value) => void };

const Field = (props: FieldProps) => {
  const { asked } = props;
  if (asked.choices.length > 0)
    return (
      <>
        {asked.choices.map((choice) => (
          <Choice key={choice.value} choice={choice} {...props} />
        ))}
        {asked.free && !asked.several ? <Words {...props} /> : null}
      </>
    );
  if (asked.type === 'yes-no')
    return (
      <label className="flex gap-2">
        <input type="checkbox" checked={props.value === true} onChange={({ target }) => props.change(target.checked)} /> yes
      </label>
    );
  return <Words {...props} />;
};

const Choice = ({ asked, value, change, choice }: FieldProps & { readonly choice: Question['choices'][number] }) => {
  const taken = Array.isArray(value) ? value : [];
  const checked = asked.several ? taken.includes(choice.value) : value === choice.value;
  return (
    <label className="flex items-baseline gap-2">
      <input
        type={asked.several ? 'checkbox' : 'radio'}
        name={asked.key}
        checked={checked}
        onChange={() => {
          if (!asked.several) return change(choice.value);
          return change(checked ? taken.filter((one) => one !== choice.value) : [...taken, choice.value]);
        }}
      />
      <span className="said">
        {choice.label}
        {choice.description === null ? null : <span className="text-quiet"> {choice.description}</span>}
      </span>
    </label>
  );
};

const Words = ({ asked, value, change }: FieldProps) => {
  const isNumber = asked.type === 'number' || asked.type === 'integer';
  const chosen = asked.choices.some((choice) => choice.value === value);
  return (
    <input
      aria-label={asked.choices.length > 0 ? `${asked.text}: in words of your own` : asked.text}
      type={isNumber ? 'number' : 'text'}
      value={chosen || value === null || typeof value === 'boolean' ? '' : String(value)}
      placeholder={asked.choices.length > 0 ? 'or in words of your own' : undefined}
      onChange={({ target }) => change(isNumber && target.value !== '' ? target.valueAsNumber : target.value)}
      className="h-7 w-full rounded border border-line bg-ground px-2"
    />
  );
};
