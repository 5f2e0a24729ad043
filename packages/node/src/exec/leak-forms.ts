// The shapes in which a secret may travel: as it is, and as programs write it.

/** One shape of a secret, as text to search for. */
export type LeakForm = { readonly form: string; readonly pattern: string };

const BASE64_GROUP = 3;

/** Base64 of `secret` inside a longer text: at each of three alignments, without the characters that neighbours decide. */
const base64Forms = (secret: string): LeakForm[] =>
  [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const whole = Math.floor(padded.length / BASE64_GROUP) * BASE64_GROUP;
    const skipped = offset === 0 ? 0 : 4;
    return { form: 'base64', pattern: padded.subarray(0, whole).toString('base64').slice(skipped) };
  });

/** The shapes of `secret`: plain, base64 (both alphabets, any alignment), hex (either case), URL-encoded, reversed. */
export const leakForms = (secret: string): readonly LeakForm[] => {
  const base64 = base64Forms(secret);
  const hex = Buffer.from(secret).toString('hex');
  const forms: LeakForm[] = [
    { form: 'plain', pattern: secret },
    ...base64,
    ...base64.map(({ pattern }) => ({ form: 'base64', pattern: pattern.replaceAll('+', '-').replaceAll('/', '_') })),
    { form: 'hex', pattern: hex },
    { form: 'hex', pattern: hex.toUpperCase() },
    { form: 'url', pattern: encodeURIComponent(secret) },
    { form: 'reversed', pattern: [...secret].toReversed().join('') },
  ];
  return forms.filter(({ pattern }, at) => forms.findIndex((one) => one.pattern === pattern) === at);
};

/** The shapes of `secret` that are in `text`. */
export const formsIn = (text: string, forms: readonly LeakForm[]): string[] => [
  ...new Set(forms.filter(({ pattern }) => text.includes(pattern)).map(({ form }) => form)),
];
