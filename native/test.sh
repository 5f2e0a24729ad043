#!/bin/sh
# Tests of the keeper: real programs on the real kernel, as root also as a plain user, on a plain and a sanitized build, and fuzzing.
#   test.sh [quick]      quick: the plain build as the calling user only
# Needs a C compiler, node, python3, git. Everything is made below native/build and a temporary folder.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
build=$here/build
logs=$(mktemp -d)
chmod 1777 "$logs"
trap 'rm -rf "$logs"' EXIT
failed=0

say() { printf '== %s\n' "$1"; }
# Runs all cases; node's own reporter tells which promise failed.
cases() { (cd "$here/test" && node --test --test-force-exit --test-timeout=60000 --test-reporter=spec *-cases.mjs >"$logs/out" 2>&1 && grep -E '^ℹ (pass|fail)' "$logs/out" | tr '\n' ' ' && echo) || { cat "$logs/out"; failed=1; }; }

"$here/build.sh" release "$build/orrery-keeper-test"
"$here/build.sh" faults "$build/keeper-faults"
export KEEPER="$build/orrery-keeper-test" KEEPER_FAULTY="$build/keeper-faults"
say "plain build, user $(id -u)"
cases
if [ "${1:-}" != quick ]; then
	"$here/build.sh" sanitize "$build/keeper-sanitized"
	cc=${CC:-cc}
	$cc -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -Wall -Wextra -Werror -o "$build/fuzz" "$here/test/fuzz.c" "$here/keeper/spec.c" "$here/keeper/frame.c"
	say fuzz
	"$build/fuzz" 300000 "$(date +%s)" || failed=1
	if command -v clang >/dev/null 2>&1; then
		clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -DWITH_LIBFUZZER -o "$build/fuzz-clang" "$here/test/fuzz.c" "$here/keeper/spec.c" "$here/keeper/frame.c" &&
			"$build/fuzz-clang" -max_total_time=10 -verbosity=0 || failed=1
	fi
	if [ "$(id -u)" = 0 ]; then
		say 'plain build, user 65534'
		KEEPER_UID=65534 cases
	fi
	say 'sanitized build'
	KEEPER="$build/keeper-sanitized" KEEPER_LOGS="$logs" cases
	for log in "$logs"/asan* "$logs"/ubsan*; do
		[ -e "$log" ] || continue
		cat "$log"
		failed=1
	done
	prebuilt="$here/prebuilt/orrery-keeper-linux-x64"
	if [ "$(uname -sm)" = 'Linux x86_64' ] && [ -x "$prebuilt" ]; then
		say 'committed binary'
		KEEPER="$prebuilt" cases
	fi
	if command -v qemu-aarch64-static >/dev/null 2>&1; then
		say 'committed arm64 binary'
		[ "$(qemu-aarch64-static "$here/prebuilt/orrery-keeper-linux-arm64" version)" = "$("$KEEPER" version)" ] && echo 'same version' || failed=1
	fi
fi
exit "$failed"
