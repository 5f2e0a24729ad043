// Identifiers: a prefix that says what it is, then 10 characters of time and 16 of chance (Crockford base 32), so that
// they sort by creation and cannot be guessed. Ids name things; they are never capabilities.

export const idPrefixes = {
  project: 'prj',
  task: 'tsk',
  attempt: 'att',
  environment: 'env',
  session: 'ses',
  turn: 'trn',
  checkpoint: 'cpt',
  attachment: 'fil',
  push: 'psh',
  pullRequest: 'pul',
  interaction: 'int',
  run: 'run',
  token: 'tok',
  request: 'req',
  salvage: 'slv',
  installation: 'ins',
} as const;

export type IdKind = keyof typeof idPrefixes;

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Makes an id. `nowMs` and `random` (16 bytes) come from the caller, so that tests and the simulator own them. */
export const makeId = (kind: IdKind, nowMs: number, random: Uint8Array): string => {
  let time = '';
  for (let rest = Math.max(0, Math.floor(nowMs)), digit = 0; digit < 10; digit++, rest = Math.floor(rest / 32)) {
    time = alphabet[rest % 32] + time;
  }
  const chance = Array.from(random.subarray(0, 16), (byte) => alphabet[byte % 32]).join('');
  return `${idPrefixes[kind]}_${time}${chance}`;
};

/** Whether a text has the form of an id of that kind. */
export const isId = (kind: IdKind, text: string): boolean =>
  new RegExp(`^${idPrefixes[kind]}_[0-9a-hjkmnp-tv-z]{26}$`).test(text);
