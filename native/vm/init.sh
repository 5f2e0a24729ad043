#!/bin/busybox sh
# The first process of the virtual machine of boot.sh.
box=/bin/busybox
if [ "${1:-}" != next ]; then
	# A root that can be left (pivot_root), as every real one can.
	$box mount -t tmpfs -o size=1500m,mode=0755 tmpfs /next
	$box mkdir /next/proc /next/sys /next/dev
	for name in bin sbin lib lib64 usr etc root tmp orrery init; do $box cp -a "/$name" /next/; done
	exec $box switch_root /next /init next
fi
export PATH=/usr/bin:/usr/sbin:/bin HOME=/root NO_COLOR=1 KEEPER=/orrery/native/build/orrery-keeper KEEPER_ESCAPE=/orrery/native/build/escape
$box mount -t proc proc /proc
$box mount -t sysfs sysfs /sys
$box mount -t devtmpfs devtmpfs /dev
$box mkdir -p /dev/pts /dev/shm
$box mount -t devpts -o ptmxmode=0666 devpts /dev/pts
$box mount -t tmpfs -o mode=1777 tmpfs /dev/shm
$box mount -t cgroup2 cgroup2 /sys/fs/cgroup
$box chmod 1777 /tmp
$box chmod 755 /orrery /orrery/native /orrery/native/build /root
$box ip link set lo up 2>/dev/null || $box ifconfig lo 127.0.0.1 up
report=/dev/ttyS1
$box stty -F $report raw -opost 2>/dev/null
cd /orrery/native/test
all=0

# A service manager's tree: root's keepers below a slice, a user's in a group that was handed to it.
cd /sys/fs/cgroup
echo '+memory +pids +cpu' >cgroup.subtree_control
$box mkdir -p system/node user
echo '+memory +pids +cpu' >system/cgroup.subtree_control
$box mkdir -p user/node
echo '+memory +pids' >user/cgroup.subtree_control
$box chown 65534:65534 user user/cgroup.procs user/cgroup.subtree_control user/cgroup.threads user/node user/node/cgroup.procs
$box mkdir closed
cd /orrery/native/test
runs() {
	echo "-- $1" >$report
	echo $$ >"/sys/fs/cgroup/$2/cgroup.procs" || all=1
	shift 2
	"$@" node --test-reporter=spec ./kernel-runs.mjs >$report 2>&1 || all=1
}
node --version >$report
runs 'root, in the root of the hierarchy' . env KEEPER_CGROUP=own
runs 'root, in a group of a service' system/node env KEEPER_CGROUP=beside KEEPER_CASES=local
runs 'a user, in a group that is its own' user/node env KEEPER_CGROUP=beside KEEPER_CASES=confined /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups
runs 'a user, in a group that is not its own' closed env KEEPER_CGROUP=none KEEPER_CASES=local /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups
echo "all: $all" >$report
$box sync
$box poweroff -f
