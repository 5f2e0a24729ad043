#!/bin/sh
# Gets kernels for boot.sh from Debian's archive: only downloaded and unpacked, below native/build/vm/kernels; nothing is installed.
#   fetch.sh [PACKAGE]...        default: the stock cloud kernel of this Debian
# apt checks what it downloads. Needs apt-get, dpkg-deb and current package lists.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
kernels=$here/../build/vm/kernels
[ $# -gt 0 ] || set -- "linux-image-cloud-$(dpkg --print-architecture)"
mkdir -p "$kernels"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for package in "$@"; do
	# A package without a version is a name for the newest one, on which it depends.
	newest=$(apt-cache depends "$package" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	package=${newest:-$package}
	kernel=$kernels/${package#linux-image-}
	[ ! -e "$kernel" ] || continue
	mkdir "$scratch/$package"
	(cd "$scratch/$package" && apt-get download -qq -o APT::Sandbox::User=root "$package" && dpkg-deb --fsys-tarfile ./*.deb | tar -x --wildcards './boot/vmlinuz-*')
	mv "$scratch/$package"/boot/vmlinuz-* "$kernel"
	echo "$kernel"
done
