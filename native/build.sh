#!/bin/sh
# Builds the keeper: native/build/orrery-keeper, or another output and flavour.
#   build.sh [release|sanitize|faults] [OUTPUT]     CC chooses the compiler, CFLAGS and LIBS add to its flags
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
flavour=${1:-release}
output=${2:-$here/build/orrery-keeper}
cc=${CC:-cc}
common="-std=c11 -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Werror"
case $flavour in
	release) flags="-O2 -static -s -fstack-protector-strong" ;;
	faults) flags="-O2 -g -DKEEPER_FAULTS" ;;
	sanitize) flags="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" ;;
	*) echo "build.sh: unknown flavour $flavour" >&2; exit 64 ;;
esac
mkdir -p "$(dirname -- "$output")"
# To a temporary name first: a running keeper's file is never written to.
# shellcheck disable=SC2086
$cc $common ${CFLAGS:-} $flags -o "$output.new" "$here"/keeper/*.c ${LIBS:-}
mv -f "$output.new" "$output"
