import { OrreryError } from '@orrery/protocol/errors';

/** Whether a text is a full SHA-1 object name. */
export const isSha = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);

/** Whether a text is a full ref name that Git takes, by Git's own rules (git-check-ref-format), ASCII control free. */
export const isRefName = (ref: string): boolean =>
  ref.length <= 250 &&
  /^refs\/[^/]/.test(ref) &&
  // oxlint-disable-next-line no-control-regex
  !/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.$/.test(ref) &&
  ref.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));

/** Checks a branch name as a person typed it and answers its full ref. Throws `invalid_input`. */
export const branchRef = (branch: string): string => {
  const ref = `refs/heads/${branch}`;
  if (!isRefName(ref) || branch.startsWith('-') || branch === 'HEAD' || branch === '@') {
    throw new OrreryError('invalid_input', `"${branch}" is not a branch name.`, {
      rule: 'Letters, digits and . _ - / only; no "..", no leading or trailing "/", no leading "-" or ".", no ".lock" at the end.',
      fix: 'Choose another name: orrery task apply TASK --branch NAME',
    });
  }
  return ref;
};

/** A piece of a ref made of outside text: what a ref cannot hold becomes "-". */
export const refPart = (text: string): string => text.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 100) || '-';
