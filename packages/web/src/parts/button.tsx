/** A button; what it does stands on it. */
export const Button = ({
  look = 'plain',
  className = '',
  ...rest
}: React.ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly 'data-outcome'?: string;
  readonly look?: 'plain' | 'main' | 'bad';
}) => (
  <button
    type="button"
    {...rest}
    className={`min-h-7 cursor-pointer rounded border px-3 disabled:cursor-default disabled:opacity-50 ${styles[look]} ${className}`}
  />
);

const styles = {
  plain: 'border-line bg-raised',
  main: 'border-accent bg-accent font-semibold text-ground',
  bad: 'border-bad text-bad',
};
