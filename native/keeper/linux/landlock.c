// Landlock: an allow list of paths; ports where there is no network namespace; scopes for signals and abstract sockets.
// Constants are written out: installed headers may be older than the kernel. The sizes of the struct are 8, 16 and 24 by ABI.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "confine.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum { CREATE_VERSION = 1, RULE_PATH = 1, RULE_PORT = 2 };
enum {
	FS_EXECUTE = 1 << 0, FS_WRITE_FILE = 1 << 1, FS_READ_FILE = 1 << 2, FS_READ_DIR = 1 << 3, FS_REMOVE_DIR = 1 << 4, FS_REMOVE_FILE = 1 << 5,
	FS_MAKE_CHAR = 1 << 6, FS_MAKE_DIR = 1 << 7, FS_MAKE_REG = 1 << 8, FS_MAKE_SOCK = 1 << 9, FS_MAKE_FIFO = 1 << 10, FS_MAKE_BLOCK = 1 << 11,
	FS_MAKE_SYM = 1 << 12, FS_REFER = 1 << 13, FS_TRUNCATE = 1 << 14, FS_IOCTL_DEV = 1 << 15,
	FS_ABI_1 = FS_REFER - 1, FS_OF_A_FILE = FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
};
enum { NET_BIND_TCP = 1, NET_CONNECT_TCP = 2, SCOPE_ABSTRACT_SOCKETS = 1, SCOPE_SIGNALS = 2 };
enum { ABI_REFER = 2, ABI_TRUNCATE = 3, ABI_NET = 4, ABI_IOCTL = 5, ABI_SCOPES = 6 };

struct ruleset {
	uint64_t fs, net, scopes;
};
struct __attribute__((packed)) path_rule {
	uint64_t allowed;
	int32_t parent;
};
struct port_rule {
	uint64_t allowed, port;
};

int landlock_abi(void) {
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
	return abi > 0 ? (int)abi : 0;
}

static uint64_t handled_rights(int abi) {
	uint64_t rights = FS_ABI_1;
	if (abi >= ABI_REFER) rights |= FS_REFER;
	if (abi >= ABI_TRUNCATE) rights |= FS_TRUNCATE;
	if (abi >= ABI_IOCTL) rights |= FS_IOCTL_DEV;
	return rights;
}

static uint64_t rights_of(unsigned access) {
	uint64_t rights = FS_READ_FILE | FS_READ_DIR;
	if (access & ACCESS_EXECUTE) rights |= FS_EXECUTE;
	if (access & ACCESS_WRITE)
		rights |= FS_WRITE_FILE | FS_TRUNCATE | FS_REMOVE_DIR | FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SOCK | FS_MAKE_FIFO | FS_MAKE_SYM | FS_REFER | FS_IOCTL_DEV;
	return rights;
}

static bool allow_path(int ruleset, const struct file_rule *rule, uint64_t handled) {
	int fd = open(rule->path, O_PATH | O_CLOEXEC);
	struct stat stat_of;
	if (fd < 0) return false;
	bool added = fstat(fd, &stat_of) == 0;
	if (added) {
		struct path_rule path_rule = {.allowed = rights_of(rule->access) & handled, .parent = fd};
		if (!S_ISDIR(stat_of.st_mode)) path_rule.allowed &= FS_OF_A_FILE;
		added = syscall(SYS_landlock_add_rule, ruleset, RULE_PATH, &path_rule, 0) == 0;
	}
	int failure = errno;
	close(fd);
	errno = failure;
	return added;
}

static size_t ruleset_size(int abi) {
	return abi >= ABI_SCOPES ? 24 : abi >= ABI_NET ? 16 : 8;
}

static bool allow_own_devices(int ruleset, const struct facts *facts, uint64_t handled) {
	struct file_rule devices[] = {{.path = "/dev/shm", .access = ACCESS_READ | ACCESS_WRITE}, {.path = "/dev/pts", .access = ACCESS_READ | ACCESS_WRITE}, {.path = "/dev/ptmx", .access = ACCESS_READ | ACCESS_WRITE}};
	if (facts->own_shm && !allow_path(ruleset, &devices[0], handled)) return false;
	return !facts->own_terminals || (allow_path(ruleset, &devices[1], handled) && allow_path(ruleset, &devices[2], handled));
}

bool landlock_restrict(const struct spec *spec, const struct facts *facts, char *step, size_t step_size) {
	int abi = facts->landlock_abi;
	bool restrict_ports = spec->network_none && !facts->net_ns;
	struct ruleset attributes = {.fs = handled_rights(abi)};
	if (restrict_ports && abi >= ABI_NET) attributes.net = NET_BIND_TCP | NET_CONNECT_TCP;
	if (spec->processes && abi >= ABI_SCOPES) attributes.scopes = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, ruleset_size(abi), 0);
	if (ruleset < 0) return false;
	bool built = true;
	for (size_t i = 0; built && i < spec->rule_count; i++) {
		built = allow_path(ruleset, &spec->rules[i], attributes.fs);
		if (!built) snprintf(step, step_size, "path:%.110s", spec->rules[i].path);
	}
	if (built) built = allow_own_devices(ruleset, facts, attributes.fs);
	if (built && attributes.net && spec->front.port) {
		struct port_rule port = {.allowed = NET_CONNECT_TCP, .port = spec->front.port};
		built = syscall(SYS_landlock_add_rule, ruleset, RULE_PORT, &port, 0) == 0;
	}
	if (built) built = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
	int failure = errno;
	close(ruleset);
	errno = failure;
	return built;
}
