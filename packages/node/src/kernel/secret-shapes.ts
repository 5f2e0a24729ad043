// Texts that leave the place they were written for lose what has the shape of a secret.

/** What stands in the place of one. */
const HIDDEN = '•••';

const shapes: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  [/([a-z][a-z0-9+.-]*:\/\/)[^/@\s]+@/gi, `$1${HIDDEN}@`],
  [/\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g, HIDDEN],
  [
    /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,})/g,
    HIDDEN,
  ],
  [/\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,}/g, HIDDEN],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{12,}/gi, `$1 ${HIDDEN}`],
  [/\b(\w*(?:KEY|TOKEN|SECRET|PASSW|CREDENTIAL|COOKIE)\w*["']?\s*[=:]\s*["']?)[^\s"']{6,}/gi, `$1${HIDDEN}`],
];

/** Hides what looks like a key, a token, a password of an address or a private key. Pure. */
export const hideSecretShapes = (text: string): string =>
  shapes.reduce((hidden, [shape, instead]) => hidden.replace(shape, instead), text);
