// A run whose walls another program builds (bubblewrap): the keeper stays outside, where its pid, its files and the node
// are; its inner process is executed again inside, as the first process there, and looks at what was really built.
//   keeper ── wrapper … -- /proc/self/fd/100 inside ── inner process (pid 1) ── program
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "commands.h"
#include "confine.h"
#include "inner.h"
#include "text.h"

// Fixed, because the wrapper's command line names the first: it is a part of the spec.
enum { FD_SELF = 100, FD_HANDOVER = 101 };
enum { NS_USER, NS_PID, NS_MOUNT, NS_NET, NS_IPC, NS_COUNT };
enum { PROC_MAGIC = 0x9fa0, TMPFS_MAGIC = 0x01021994, DEVPTS_MAGIC = 0x1cd1 };
static const char *const namespace_files[NS_COUNT] = {"/proc/self/ns/user", "/proc/self/ns/pid", "/proc/self/ns/mnt", "/proc/self/ns/net", "/proc/self/ns/ipc"};

// What goes through the wrapper, in a file that only memory holds: this, the spec's text, the environment.
struct handover {
	uint64_t spec_size, env_size, namespaces[NS_COUNT];
	struct inner_ends ends;
};

static uint64_t namespace_id(int which) {
	struct stat stat_of;
	return stat(namespace_files[which], &stat_of) == 0 ? (uint64_t)stat_of.st_ino : 0;
}

static bool write_handover(int fd, int dir_fd, char **env, const struct inner_ends *ends) {
	struct handover head = {.ends = *ends};
	char *text = read_file(dir_fd, "spec", (size_t)8 << 20, &head.spec_size);
	for (size_t i = 0; i < NS_COUNT; i++) head.namespaces[i] = namespace_id((int)i);
	for (size_t i = 0; i < sizeof head.ends.keeper_ends / sizeof *head.ends.keeper_ends; i++) head.ends.keeper_ends[i] = -1;
	for (char **one = env; *one; one++) head.env_size += strlen(*one) + 1;
	bool written = text && write_all(fd, &head, sizeof head) && write_all(fd, text, head.spec_size);
	for (char **one = env; written && *one; one++) written = write_all(fd, *one, strlen(*one) + 1);
	free(text);
	return written;
}

static bool leave_open(const struct inner_ends *ends) {
	const int needed[] = {ends->control, ends->gate, ends->status, ends->stdio[0], ends->stdio[1], ends->stdio[2], ends->terminal, ends->cgroup_procs[0], ends->cgroup_procs[1]};
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
		if (needed[i] >= 0 && fcntl(needed[i], F_SETFD, 0) != 0) return false;
	return true;
}

void wrap_execute(const struct spec *spec, int dir_fd, char **env, const struct inner_ends *ends) {
	extern char **environ;
	int handover = memfd_create("handover", MFD_CLOEXEC), self = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	if (handover < 0 || self < 0 || !write_handover(handover, dir_fd, env, ends)) return;
	if (dup2(handover, FD_HANDOVER) < 0 || dup2(self, FD_SELF) < 0 || !leave_open(ends) || chdir("/") != 0) return;
	execve(spec->wrapper[0], spec->wrapper, environ);
}

static bool read_exactly(int fd, void *into, size_t size) {
	for (size_t done = 0; done < size;) {
		ssize_t n = pread(fd, (char *)into + done, size - done, (off_t)done);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return false;
		done += (size_t)n;
	}
	return true;
}

// The whole handover, the head of it first; NULL when this process was not started by a keeper through a wrapper.
static char *take_handover(struct handover *head) {
	struct stat stat_of;
	char *bytes = fstat(FD_HANDOVER, &stat_of) == 0 && stat_of.st_size > (off_t)sizeof *head ? malloc((size_t)stat_of.st_size) : NULL;
	if (!bytes || !read_exactly(FD_HANDOVER, bytes, (size_t)stat_of.st_size)) return NULL;
	memcpy(head, bytes, sizeof *head);
	if (head->spec_size > (uint64_t)stat_of.st_size || head->env_size > (uint64_t)stat_of.st_size) return NULL;
	return sizeof *head + head->spec_size + head->env_size == (uint64_t)stat_of.st_size ? bytes : NULL;
}

int command_inside(void) {
	struct handover head;
	struct spec spec;
	char *bytes = take_handover(&head), why[120] = "";
	char *text = bytes ? malloc(head.spec_size + 1) : NULL;
	if (!text) return 1;
	memcpy(text, bytes + sizeof head, head.spec_size);
	char **env = env_split(bytes + sizeof head + head.spec_size, head.env_size);
	if (!env || !spec_parse(&spec, text, head.spec_size, why, sizeof why) || spec.wrapper_count == 0) return 1;
	close(FD_HANDOVER);
	close(FD_SELF);
	bool own[NS_COUNT];
	for (size_t i = 0; i < NS_COUNT; i++) {
		uint64_t here = namespace_id((int)i);
		own[i] = here != 0 && head.namespaces[i] != 0 && here != head.namespaces[i];
	}
	struct facts facts = {.wrapped = true, .user_ns = own[NS_USER], .pid_ns = own[NS_PID] && getpid() == 1, .mount_ns = own[NS_MOUNT],
		.net_ns = own[NS_NET], .ipc_ns = own[NS_IPC], .landlock_abi = landlock_abi()};
	inner_main(&spec, env, &head.ends, facts);
}

static void note(struct facts *facts, const char *step, const char *path) {
	if (!facts->missing[0]) snprintf(facts->missing, sizeof facts->missing, "%s %.80s", step, path);
}

static bool is_readonly(const char *path) {
	struct statvfs stat_of;
	return statvfs(path, &stat_of) == 0 && (stat_of.f_flag & ST_RDONLY);
}

static bool is_kind(const char *path, long magic) {
	struct statfs stat_of;
	return statfs(path, &stat_of) == 0 && (long)stat_of.f_type == magic;
}

static bool is_below(const char *path, const char *root) {
	size_t length = strlen(root);
	return strncmp(path, root, length) == 0 && (path[length] == 0 || path[length] == '/');
}

// The kernel's own files: the rights there are of another kind than a mount's.
static bool is_kernels(const char *path) { return is_below(path, "/proc") || is_below(path, "/dev"); }

static bool may_be_written(const struct spec *spec, const char *path) {
	for (size_t i = 0; i < spec->rule_count; i++)
		if ((spec->rules[i].access & ACCESS_WRITE) && is_below(path, spec->rules[i].path)) return true;
	return false;
}

static bool world_is_readonly(const struct spec *spec, struct facts *facts) {
	static const char *const fixed[] = {"/", "/dev"};
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
		if (is_readonly(fixed[i])) continue;
		note(facts, "not read-only:", fixed[i]);
		return false;
	}
	for (size_t i = 0; i < spec->rule_count; i++) {
		const char *path = spec->rules[i].path;
		if (is_kernels(path) || may_be_written(spec, path) || is_readonly(path)) continue;
		note(facts, "not read-only:", path);
		return false;
	}
	return true;
}

static bool paths_are_readonly(const struct spec *spec, struct facts *facts) {
	for (size_t i = 0; i < spec->readonly_count; i++) {
		if (is_readonly(spec->readonly[i])) continue; // what is not there is not closed either
		note(facts, "not read-only:", spec->readonly[i]);
		return false;
	}
	return true;
}

static void look_at_proc(struct facts *facts) {
	static const char *const fixed[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"};
	char self[16] = "";
	facts->own_proc = facts->pid_ns && is_kind("/proc", PROC_MAGIC) && readlink("/proc/self", self, sizeof self - 1) == 1 && self[0] == '1';
	if (!facts->own_proc) note(facts, "not the run's own:", "/proc");
	facts->proc_sys_readonly = true;
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
		if (access(fixed[i], F_OK) != 0 || is_readonly(fixed[i])) continue;
		facts->proc_sys_readonly = false;
		note(facts, "not read-only:", fixed[i]);
	}
}

static bool loopback_is_up(void) {
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {.ifr_name = "lo"};
	bool up = fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_UP);
	if (fd >= 0) close(fd);
	return up;
}

void wrap_look(const struct spec *spec, struct facts *facts) {
	if (facts->mount_ns) {
		facts->world_readonly = world_is_readonly(spec, facts);
		facts->readonly_paths = paths_are_readonly(spec, facts);
		facts->own_shm = is_kind("/dev/shm", TMPFS_MAGIC);
		facts->own_terminals = is_kind("/dev/pts", DEVPTS_MAGIC);
	} else note(facts, "not the run's own:", "mount namespace");
	look_at_proc(facts);
	if (!facts->ipc_ns) note(facts, "not the run's own:", "ipc namespace");
	facts->loopback = facts->net_ns && loopback_is_up();
	if (!facts->loopback) note(facts, "not up:", "loopback");
}
