// Inside the namespaces: a world that is read-only but for what may be written, an own /proc, a loopback that is up.
// Landlock decides by path at open; it lets chmod, utime and setxattr through. The read-only world does not.
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "text.h"

// From linux/mount.h, which older systems do not have in full.
#ifndef SYS_open_tree
#define SYS_open_tree 428
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
enum { TREE_CLONE = 1, TREE_RECURSIVE = 0x8000, TREE_CLOEXEC = O_CLOEXEC, EMPTY_PATH = 0x1000, MOVE_FROM_EMPTY = 4, ATTR_READONLY = 1 };
struct mount_attributes {
	uint64_t set, clear, propagation, user_ns;
};

int confine_clone_flags(const struct spec *spec, bool with_user) {
	int flags = 0;
	if (spec->confine && spec->processes) flags |= CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC;
	if (spec->confine && spec->readonly_count) flags |= CLONE_NEWNS;
	if (spec->confine && spec->network_none) flags |= CLONE_NEWNET;
	return flags && with_user ? flags | CLONE_NEWUSER : flags;
}

static bool write_map(const char *path, const char *content) {
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) return false;
	bool written = write_all(fd, content, strlen(content));
	int failure = errno;
	close(fd);
	errno = failure;
	return written;
}

bool confine_map_user(unsigned uid, unsigned gid) {
	char map[48];
	if (!write_map("/proc/self/setgroups", "deny")) return false;
	snprintf(map, sizeof map, "%u %u 1\n", gid, gid);
	if (!write_map("/proc/self/gid_map", map)) return false;
	snprintf(map, sizeof map, "%u %u 1\n", uid, uid);
	return write_map("/proc/self/uid_map", map);
}

static void note(struct facts *facts, const char *step) {
	if (!facts->missing[0]) snprintf(facts->missing, sizeof facts->missing, "%s: %s", step, errno_name(errno));
}

static int copy_tree(const char *path) {
	return (int)syscall(SYS_open_tree, AT_FDCWD, path, TREE_CLONE | TREE_RECURSIVE | TREE_CLOEXEC);
}

static bool put_tree(int tree, const char *path) {
	return syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_FROM_EMPTY) == 0;
}

static bool make_readonly(int dir_fd, const char *path) {
	struct mount_attributes attributes = {.set = ATTR_READONLY};
	return syscall(SYS_mount_setattr, dir_fd, path, TREE_RECURSIVE | (path[0] ? 0 : EMPTY_PATH), &attributes, sizeof attributes) == 0;
}

// Puts a copy of what is mounted at `path` over it: a mount point cannot be renamed or removed.
static bool cover(const char *path, bool readonly) {
	int tree = copy_tree(path);
	if (tree < 0) return false;
	bool covered = (!readonly || make_readonly(tree, "")) && put_tree(tree, path);
	int failure = errno;
	close(tree);
	errno = failure;
	return covered;
}

static bool is_below(const char *path, const char *root) {
	size_t length = strlen(root);
	if (strncmp(path, root, length) != 0) return false;
	return path[length] == 0 || path[length] == '/' || root[length - 1] == '/';
}

static bool is_writable_folder(const struct file_rule *rule) {
	struct stat stat_of;
	return (rule->access & ACCESS_WRITE) && stat(rule->path, &stat_of) == 0 && (S_ISDIR(stat_of.st_mode) || S_ISREG(stat_of.st_mode));
}

// The outermost writable rule that holds `path`, or NULL.
static const char *writable_root(const struct spec *spec, const char *path) {
	const char *root = NULL;
	for (size_t i = 0; i < spec->rule_count; i++) {
		const struct file_rule *rule = &spec->rules[i];
		if ((rule->access & ACCESS_WRITE) && is_below(path, rule->path) && (!root || strlen(rule->path) < strlen(root))) root = rule->path;
	}
	return root;
}

// Everything read-only, but copies of the writable rules, taken before, laid over their places with the rights they had.
static bool make_world_readonly(const struct spec *spec) {
	int *trees = malloc((spec->rule_count + 1) * sizeof *trees);
	if (!trees) return false;
	bool done = true;
	for (size_t i = 0; i < spec->rule_count; i++) {
		const char *path = spec->rules[i].path;
		trees[i] = -1;
		if (!is_writable_folder(&spec->rules[i])) continue;
		if (writable_root(spec, path) != path) continue; // a writable rule further out covers it
		trees[i] = copy_tree(path);
		if (trees[i] < 0) done = false;
	}
	if (done) done = make_readonly(AT_FDCWD, "/");
	for (size_t i = 0; i < spec->rule_count; i++) {
		if (trees[i] < 0) continue;
		// Half of it is no world: what may be written could not be. The keeper then tries with fewer namespaces.
		if (done && !put_tree(trees[i], spec->rules[i].path)) _exit(1);
		int failure = errno;
		close(trees[i]);
		errno = failure;
	}
	free(trees);
	return done;
}

static int by_length(const void *a, const void *b) {
	size_t x = strlen(*(char *const *)a), y = strlen(*(char *const *)b);
	return (x > y) - (x < y);
}

// Folders between the writable root and a read-only path become mount points, so that `mv` of a parent cannot take it away.
static bool pin_parents(const char *path, const char *root) {
	char parent[4096];
	size_t length = strlen(path);
	if (length >= sizeof parent) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (size_t at = strlen(root) + 1; at < length; at++) {
		if (path[at] != '/') continue;
		memcpy(parent, path, at);
		parent[at] = 0;
		if (!cover(parent, false)) return false;
	}
	return true;
}

static bool make_paths_readonly(const struct spec *spec) {
	char **sorted = malloc((spec->readonly_count + 1) * sizeof *sorted);
	if (!sorted) return false;
	if (spec->readonly_count) memcpy(sorted, spec->readonly, spec->readonly_count * sizeof *sorted);
	qsort(sorted, spec->readonly_count, sizeof *sorted, by_length);
	bool done = true;
	for (size_t i = 0; done && i < spec->readonly_count; i++) {
		struct stat stat_of;
		if (lstat(sorted[i], &stat_of) != 0) continue; // asked for in advance, not there
		const char *root = writable_root(spec, sorted[i]);
		if (root) done = pin_parents(sorted[i], root);
		if (done) done = cover(sorted[i], true);
	}
	free(sorted);
	return done;
}

static void mount_proc(struct facts *facts) {
	static const char *const fixed[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"};
	facts->own_proc = mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
	if (!facts->own_proc) note(facts, "own /proc");
	facts->proc_sys_readonly = true;
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
		if (cover(fixed[i], true) || errno == ENOENT) continue;
		facts->proc_sys_readonly = false;
		note(facts, fixed[i]);
	}
}

// Shared memory and terminals of the run's own: the machine's hold other people's. Nothing is missing where these cannot be had.
static void mount_devices(struct facts *facts) {
	facts->own_shm = mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=1777,size=1g,nr_inodes=65536") == 0;
	facts->own_terminals = mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,mode=0600,ptmxmode=0666") == 0;
}

static bool loopback_up(void) {
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0) return false;
	struct ifreq request = {0};
	strcpy(request.ifr_name, "lo");
	request.ifr_flags = IFF_UP | IFF_RUNNING;
	bool up = ioctl(fd, SIOCSIFFLAGS, &request) == 0;
	int failure = errno;
	close(fd);
	errno = failure;
	return up;
}

void confine_inside(const struct spec *spec, struct facts *facts) {
	if (facts->wrapped) {
		wrap_look(spec, facts);
		return;
	}
	if (facts->mount_ns) {
		// Slave: what the host unmounts goes here too, nothing from here goes out.
		bool own = mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
		if (!own) note(facts, "mount propagation");
		if (own) {
			facts->world_readonly = make_world_readonly(spec);
			if (!facts->world_readonly) note(facts, "read-only world");
		}
		if (own) {
			facts->readonly_paths = make_paths_readonly(spec);
			if (!facts->readonly_paths) note(facts, "read-only paths");
		}
		if (own && facts->pid_ns) mount_proc(facts);
		if (own) mount_devices(facts);
	}
	if (facts->net_ns) {
		facts->loopback = loopback_up();
		if (!facts->loopback) note(facts, "loopback");
	}
}
