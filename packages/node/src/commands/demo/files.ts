// The repository of the demo: a small shell program with a failing test. It needs nothing but a shell, so that it runs
// wherever hooks run.

const program = (pairs: string): string => `#!/bin/sh
# Prints a number from 1 to 3999 as a Roman numeral.
rest=$1
numeral=
for pair in ${pairs}; do
  value=\${pair%%:*}
  letters=\${pair##*:}
  while [ "$rest" -ge "$value" ]; do
    numeral=$numeral$letters
    rest=$((rest - value))
  done
done
echo "$numeral"
`;

const test = `#!/bin/sh
# Every line: a number and its numeral.
failed=0
while read -r number expected; do
  got=$(sh ./roman.sh "$number")
  if [ "$got" = "$expected" ]; then
    echo "ok      $number is $expected"
  else
    echo "not ok  $number is $got, not $expected"
    failed=1
  fi
done <<'END'
1 I
3 III
4 IV
9 IX
40 XL
1994 MCMXCIV
2026 MMXXVI
END
exit $failed
`;

const readme = `# roman

\`sh roman.sh 1994\` prints MCMXCIV. \`sh test.sh\` runs the tests.
`;

const validation = `#!/bin/sh
# Orrery accepts a change of this repository only when this script passes.
sh test.sh
`;

const settings = `# What Orrery does with tasks of this repository.
validation:
  maxRetries: 3
`;

/** Value pairs of the program as it is at first, after a wrong repair and after the right one. */
export const pairs = {
  broken: '1000:M 500:D 100:C 50:L 10:X 5:V 1:I',
  halfFixed: '1000:M 500:D 100:C 50:L 10:X 5:V 4:IV 1:I',
  fixed: '1000:M 900:CM 500:D 400:CD 100:C 90:XC 50:L 40:XL 10:X 9:IX 5:V 4:IV 1:I',
} as const;

/** The line of the program that holds the pairs. */
export const pairLine = (list: string): string => `for pair in ${list}; do`;

/** Files of the repository by path. */
export const demoFiles: Readonly<Record<string, string>> = {
  'roman.sh': program(pairs.broken),
  'test.sh': test,
  'README.md': readme,
  '.orrery/hooks/validation.sh': validation,
  '.orrery/orrery.yaml': settings,
};
