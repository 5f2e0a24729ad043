#!/bin/sh
# Makes a Debian system into the standard agent image, inside of it and as root. The same for both ways of building it.
# Programs lie in /opt/orrery/programs, as a node has them; the keeper and Node are there already.
set -eu

# Who programs are. Nobody becomes root from inside: no password, no sudo, and nothing with set-user-id. A root shell is
# had by the engine alone: docker exec -u 0 -it CONTAINER bash
groupadd --gid 1000 agent
useradd --uid 1000 --gid 1000 --create-home --shell /bin/bash agent
passwd --lock root >/dev/null
find / -xdev -type f -perm /6000 -exec chmod ug-s {} +

# A browser cannot build walls of its own in a container without capabilities: the container is its wall, for both users.
mkdir -p /etc/chromium.d
cat > /etc/chromium.d/orrery <<'FLAGS'
export CHROMIUM_FLAGS="$CHROMIUM_FLAGS --no-sandbox --disable-dev-shm-usage --disable-gpu --no-first-run"
FLAGS

# A node names programs as <harness>/<version>, or <harness> where there is one version of each: both lead here.
for manifest in /opt/orrery/programs/*/package.json; do
  folder=$(dirname "$manifest")
  version=$(cat "$folder/VERSION")
  ln -sfn . "$folder/$version"
done
chmod -R a+rX /opt/orrery
chmod 0755 /usr/local/bin/orrery-keeper

ln -sfn /usr/bin/fdfind /usr/local/bin/fd
git config --system core.fsmonitor false
git config --system advice.detachedHead false
git config --system init.defaultBranch main
rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb /tmp/* /root/.npm
