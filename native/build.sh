#!/bin/sh
# Builds the keeper, native/build/orrery-keeper, and the program of the self-test, native/build/escape.
#   build.sh                                               both
#   build.sh release|sanitize|faults|portable|escape [OUTPUT]       a flavour of the keeper, or the self-test's program
# CC chooses the compiler, CFLAGS and LIBS add to its flags, TARGET_SYSTEM says what a cross-compiler builds for (default: uname).
set -eu
from=$(pwd)
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
# Sources are named from here: the folder above may have any name, also one with spaces in it.
cd -- "$here"
cc=${CC:-cc}
warnings="-std=c11 -Wall -Wextra -Werror"
# What the kernel gives beyond POSIX: all of it on Linux, nothing elsewhere.
target=${TARGET_SYSTEM:-$(uname)}
parts=portable system=-D_DARWIN_C_SOURCE
[ "$target" != Linux ] || parts=linux system=-D_GNU_SOURCE
common="$warnings -Ikeeper -Wshadow -Wconversion -Wno-sign-conversion"

# build FLAVOUR [OUTPUT]
build() {
	output=$here/build/orrery-keeper
	sources="keeper/*.c keeper/$parts/*.c"
	case $1 in
		release)
			flags="$common $system -O2 -s -fstack-protector-strong"
			[ "$parts" != linux ] || flags="$flags -static"
			;;
		portable) # the parts of other systems, on Linux too: nothing but POSIX is declared
			parts=portable
			sources="keeper/*.c keeper/portable/*.c"
			flags="$common -D_XOPEN_SOURCE=700 -DORRERY_PORTABLE -DKEEPER_FAULTS -O1 -g"
			;;
		faults)
			flags="$common $system -O2 -g -DKEEPER_FAULTS"
			if [ "$target" = Linux ]; then
				# The names that test/fail-calls.c stands in for.
				for call in $(sed -n -e 's/^.* __wrap_\([a-z0-9_]*\)(.*;$/\1/p' -e 's/^WRAP([a-z_]*, \([a-z0-9_]*\),.*/\1/p' -e 's/^WRAP_[A-Z]*(\([a-z0-9_]*\),.*/\1/p' test/fail-calls.c | sort -u); do flags="$flags -Wl,--wrap=$call"; done
				sources="$sources test/fail-calls.c"
			fi
			;;
		sanitize) flags="$common $system -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" ;;
		escape)
			output=$here/build/escape
			sources=test/escape.c
			flags="$warnings -O1 -static -s"
			;;
		*) echo "build.sh: unknown flavour $1" >&2; exit 64 ;;
	esac
	case ${2:-} in
		'') ;;
		/*) output=$2 ;;
		*) output=$from/$2 ;;
	esac
	mkdir -p "$(dirname -- "$output")"
	# To a temporary name first: a running program's file is never written to.
	# shellcheck disable=SC2086
	$cc ${CFLAGS:-} $flags -o "$output.new" $sources ${LIBS:-}
	mv -f "$output.new" "$output"
}

if [ $# = 0 ]; then
	build release
	build escape
else
	build "$@"
fi
