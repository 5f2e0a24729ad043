#!/bin/sh
# Makes the committed binaries with musl, on Debian 12 (x86-64). Needs the packages
#   musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross
# and MUSL_ARM64, the folder into which the Debian package musl-dev:arm64 was unpacked
#   (dpkg --add-architecture arm64; apt-get update; apt-get download musl-dev:arm64; dpkg -x musl-dev_*_arm64.deb FOLDER).
#   make.sh [x64|arm64 ...] [keeper|escape ...] [--into FOLDER]
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
into=$here
wanted=
programs=
while [ $# -gt 0 ]; do
	case $1 in
		--into) into=$2; shift 2 ;;
		x64|arm64) wanted="$wanted $1"; shift ;;
		keeper|escape) programs="$programs $1"; shift ;;
		*) echo "make.sh: unknown argument $1" >&2; exit 64 ;;
	esac
done
# make TARGET PROGRAM; kernel headers come from the C library's folder, behind musl's own.
make() {
	output=$into/orrery-$2-linux-$1
	flavour=release
	[ "$2" = keeper ] || flavour=$2
	case $1 in
		x64) CC=musl-gcc CFLAGS="-Os -idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu" "$here/../build.sh" $flavour "$output" ;;
		arm64)
			musl=${MUSL_ARM64:?make.sh: MUSL_ARM64 is not set}/usr
			lib=$musl/lib/aarch64-linux-musl
			gcc_lib=$(dirname "$(aarch64-linux-gnu-gcc -print-libgcc-file-name)")
			CC=aarch64-linux-gnu-gcc \
			CFLAGS="-Os -mno-outline-atomics -nostdinc -isystem $musl/include/aarch64-linux-musl -isystem $gcc_lib/include -idirafter /usr/aarch64-linux-gnu/include -nostdlib -fno-pie -no-pie $lib/crt1.o $lib/crti.o" \
			LIBS="$lib/libc.a $gcc_lib/libgcc.a $lib/crtn.o" "$here/../build.sh" $flavour "$output"
			;;
	esac
}

for target in ${wanted:-x64 arm64}; do
	for program in ${programs:-keeper escape}; do make "$target" "$program"; done
done
