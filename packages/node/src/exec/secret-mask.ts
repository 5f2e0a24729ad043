// Keeps secrets out of what people read: by the name of a variable, by the shape of a value, and by value wherever it appears.

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE|PRIVATE|SESSION|SIGNATURE|DSN|CONNECTION_STRING/i;
const URL_CREDENTIALS = /([a-z][a-z0-9+.-]*:\/\/)[^/@\s]+@/gi;
/** Shorter values are words like `true` and `1`: hiding them everywhere would hide the text. */
const SECRET_CHARS = 6;

/** What stands in the place of a secret. */
export const MASK = '•••';

/** Whether a variable of this name is treated as a secret. */
export const looksSecret = (name: string): boolean => SECRET_NAME.test(name);

/** Masks texts about a program: `env` is what it is given, `secretNames` are secrets whatever they are called. */
export const createSecretMask = (env: Readonly<Record<string, string>>, secretNames: readonly string[] = []) => {
  const isSecret = (name: string): boolean => looksSecret(name) || secretNames.includes(name);
  // Longest first, so that a secret that contains another one is hidden whole.
  const values = Object.keys(env)
    .filter(isSecret)
    .map((name) => env[name]!)
    .filter((value) => value.length >= SECRET_CHARS)
    .toSorted((a, b) => b.length - a.length);
  const text = (shown: string): string =>
    values.reduce((masked, value) => masked.replaceAll(value, MASK), shown).replace(URL_CREDENTIALS, `$1${MASK}@`);
  return {
    text,
    /** The value of one variable as it may be shown. */
    value: (name: string): string => (isSecret(name) ? MASK : text(env[name] ?? '')),
  };
};
