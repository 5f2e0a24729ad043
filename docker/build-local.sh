#!/usr/bin/env bash
# The standard agent image without a registry of images: Debian's packages by debootstrap, the agent programs by npm, Node
# and the keeper of this checkout. As root, on Debian, with an engine: docker/build-local.sh [IMAGE]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(dirname "$here")
version=$(node -p "require('$source/package.json').version")
image=${1:-orrery/agent:$version}
[ "$(id -u)" -eq 0 ] || { echo "A system is made as root: sudo $0" >&2; exit 2; }
for program in debootstrap docker node npm; do
  command -v "$program" >/dev/null || { echo "$program is not installed (Debian: apt-get install debootstrap docker.io nodejs npm)" >&2; exit 2; }
done

root=$(mktemp -d)
cleanup() { umount -l "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"; }
trap cleanup EXIT

log=$(mktemp)
trap 'cleanup; rm -f "$log"' EXIT
quietly() { "$@" >"$log" 2>&1 </dev/null || { tail -20 "$log" >&2; exit 1; }; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

quietly debootstrap --variant=minbase bookworm "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
mount -t proc proc "$root/proc"
# Nothing is started while packages are set up, and names are looked up as here.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
quietly inside apt-get update
quietly inside apt-get install -y --no-install-recommends $(grep -v '^#' "$here/packages.txt")
rm -f "$root/usr/sbin/policy-rc.d" "$root/etc/resolv.conf" "$root/etc/hosts"

mkdir -p "$root/opt/orrery/programs" "$root/usr/local"
cp "$here/packages.txt" "$here/provision.sh" "$here/prove.sh" "$root/opt/orrery/"
node "$here/programs.ts" "$root/opt/orrery/programs"
node_root=$(dirname "$(dirname "$(readlink -f "$(node -p process.execPath)")")")
install -D -m 0755 "$node_root/bin/node" "$root/usr/local/bin/node"
if [ -d "$node_root/lib/node_modules/npm" ]; then
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -a "$node_root/lib/node_modules/npm" "$root/usr/local/lib/node_modules/"
  ln -sfn ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -sfn ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
fi
case $(uname -m) in aarch64) arch=arm64 ;; *) arch=x64 ;; esac
install -m 0755 "$source/native/prebuilt/orrery-keeper-linux-$arch" "$root/usr/local/bin/orrery-keeper"

inside sh /opt/orrery/provision.sh
umount "$root/proc"

tar -C "$root" --one-file-system -cf - . | docker import \
  --change 'USER agent' --change 'WORKDIR /home/agent' --change 'CMD ["bash"]' \
  --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' --change 'ENV LANG=C.UTF-8' \
  --change "LABEL dev.orrery.version=$version dev.orrery.programs=/opt/orrery/programs dev.orrery.node=/usr/local/bin" \
  - "$image" >/dev/null
# In the walls that an environment has, as both users.
for user in 0:0 1000:1000; do
  docker run --rm --network none --cap-drop ALL --security-opt no-new-privileges --shm-size 1g --user "$user" "$image" sh /opt/orrery/prove.sh
done
echo "$image"
