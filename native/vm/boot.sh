#!/bin/sh
# Boots a kernel in a virtual machine whose only cgroup hierarchy is version 2, and runs test/kernel-runs.mjs there as root and as a user.
#   boot.sh [KERNEL]...          default: all that fetch.sh got
# Needs qemu-system-x86_64, busybox (static) and python3 of this machine; it has no disk and no network, and is emulated: KVM is not needed, and not used.
# The last line counts: N passed, N failed, N skipped. Exit code 69: what is needed is not here.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
build=$here/../build/vm
[ $# -gt 0 ] || set -- "$build"/kernels/*
limit=${VM_SECONDS:-400}
for program in qemu-system-x86_64 busybox /usr/bin/python3 setpriv node; do
	command -v "$program" >/dev/null || { echo "$program is not installed"; exit 69; }
done
[ -e "$1" ] || { echo 'no kernel (native/vm/fetch.sh gets one)'; exit 69; }
tree=$(mktemp -d)
trap 'rm -rf "$tree" "$build/tree.cpio"' EXIT

# A program with the libraries it loads, where they lie here.
bring() {
	for file in "$1" $(ldd "$1" 2>/dev/null | sed -n 's/^[^/]*\(\/[^ ]*\) (0x.*/\1/p'); do
		[ -e "$tree$file" ] || { mkdir -p "$tree$(dirname "$file")" && cp -L "$file" "$tree$file"; }
	done
}

mkdir -p "$tree"/usr/bin "$tree"/usr/sbin "$tree"/usr/lib "$tree"/usr/lib64 "$tree"/usr/local "$tree"/proc "$tree"/sys "$tree"/dev "$tree"/tmp "$tree"/root "$tree"/etc "$tree"/orrery/native/build "$tree"/next
for name in bin sbin lib lib64; do ln -s "usr/$name" "$tree/$name"; done
cp "$(command -v busybox)" "$tree/usr/bin/busybox"
for program in sh sleep cat head env setpriv setsid ls mkdir mv rm true; do bring "/usr/bin/$program"; done
node=$(node -p process.execPath)
bring "$node"
[ "$node" = /usr/bin/node ] || mv "$tree$node" "$tree/usr/bin/node"
python=$(/usr/bin/python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
bring "$python"
[ "$python" = /usr/bin/python3 ] || ln -s "$python" "$tree/usr/bin/python3"
library=$(/usr/bin/python3 -c 'import os; print(os.path.dirname(os.__file__))')
mkdir -p "$tree$library"
(cd "$library" && tar -c --exclude=__pycache__ --exclude=test --exclude=site-packages --exclude=dist-packages --exclude='config-*' . | tar -x -C "$tree$library")
[ ! -x /usr/bin/bwrap ] || bring /usr/bin/bwrap
printf 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n' >"$tree/etc/passwd"
cp -R "$here/../test" "$tree/orrery/native/test"
cp "$here/../build/orrery-keeper" "$here/../build/escape" "$tree/orrery/native/build/"
cp "$here/init.sh" "$tree/init"
(cd "$tree" && find . | busybox cpio -o -H newc 2>/dev/null) >"$build/tree.cpio"

passed=0 failed=0 skipped=0
for kernel in "$@"; do
	rm -f "$build/console" "$build/report"
	echo "== Linux $(basename "$kernel") in a virtual machine, cgroup v2"
	# The second serial line carries the report alone: the kernel talks on the first.
	timeout "$limit" qemu-system-x86_64 -machine q35 -accel tcg,thread=multi -cpu max -smp 2 -m 2048 -nodefaults -no-user-config -display none -no-reboot \
		-kernel "$kernel" -initrd "$build/tree.cpio" -append 'console=ttyS0 quiet panic=-1 cgroup_no_v1=all' \
		-serial "file:$build/console" -serial "file:$build/report" 2>"$build/qemu" </dev/null || true
	tr -d '\r' <"$build/report" >"$build/report.text" || true
	if ! grep -q '^v[0-9]' "$build/report.text"; then
		tail -n 20 "$build/qemu" "$build/console"
		echo "the emulator did not get as far as the first process in $limit s"
		exit 69
	fi
	counted() { sed -n "s/^ℹ $1 \\([0-9]*\\)\$/\\1/p" "$build/report.text" | awk '{ sum += $1 } END { print sum + 0 }'; }
	passed=$((passed + $(counted pass))) failed=$((failed + $(counted fail))) skipped=$((skipped + $(counted skipped)))
	# Each of its runs has a count at its end.
	if grep -qx 'all: 0' "$build/report.text" && [ "$(grep -c '^-- ' "$build/report.text")" = "$(grep -c '^ℹ tests [1-9]' "$build/report.text")" ]; then
		echo "$(counted pass) passed"
	else
		cat "$build/qemu" "$build/report.text"
		tail -n 40 "$build/console"
		[ "$(counted fail)" != 0 ] || failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
