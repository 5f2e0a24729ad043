#include "cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "system.h"
#include "text.h"

enum { MAX_CGROUP_FILE = 64 << 10, REMOVE_TRIES = 50 };

static bool put_file(const char *group, const char *name, uint64_t value) {
	char path[CGROUP_PATH + 64], number[32];
	snprintf(path, sizeof path, "%s/%s", group, name);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) return false;
	snprintf(number, sizeof number, "%llu\n", (unsigned long long)value);
	bool written = write_all(fd, number, strlen(number));
	close(fd);
	return written;
}

// Removes groups of keepers that are gone: a keeper that was killed could not do it itself.
static void sweep(const char *parent) {
	DIR *dir = opendir(parent);
	if (!dir) return;
	for (struct dirent *entry; (entry = readdir(dir));) {
		int pid = 0;
		unsigned long long ticks = 0;
		if (sscanf(entry->d_name, "orrery-%d-%llu", &pid, &ticks) == 2 && start_ticks_of(pid) != ticks) unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

static bool has_word(const char *list, const char *word) {
	size_t length = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at += length) {
		bool starts = at == list || at[-1] == ',' || at[-1] == ' ';
		bool ends = !at[length] || at[length] == ',' || at[length] == ' ' || at[length] == '\n' || at[length] == ':';
		if (starts && ends) return true;
	}
	return false;
}

// The path of this process's own group in the hierarchy of a version 1 controller, or of version 2 with controller "".
static bool own_group(const char *controller, char *into, size_t room) {
	size_t size = 0;
	char *list = read_file(AT_FDCWD, "/proc/self/cgroup", MAX_CGROUP_FILE, &size), *rest = NULL;
	bool found = false;
	for (char *line = list ? strtok_r(list, "\n", &rest) : NULL; line && !found; line = strtok_r(NULL, "\n", &rest)) {
		char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
		if (!path) continue;
		*path++ = 0;
		names++;
		if (controller[0] ? !has_word(names, controller) : names[0] != 0) continue;
		snprintf(into, room, "%s", path);
		found = true;
	}
	free(list);
	return found;
}

static bool make_group(const char *parent, const char *name, char *path) {
	if (snprintf(path, CGROUP_PATH, "%s/%s", parent, name) >= CGROUP_PATH) return false;
	sweep(parent);
	return mkdir(path, 0755) == 0;
}

static bool make_version1(struct cgroups *cgroups, const char *controller, uint64_t limit, const char *name) {
	char own[256], parent[CGROUP_PATH], *path = cgroups->paths[cgroups->count];
	bool memory = strcmp(controller, "memory") == 0;
	if (!own_group(controller, own, sizeof own)) return false;
	snprintf(parent, sizeof parent, "/sys/fs/cgroup/%s%s", controller, own[1] ? own : "");
	// In a container the path may be the host's, which is not to be seen here.
	if (access(parent, F_OK) != 0) snprintf(parent, sizeof parent, "/sys/fs/cgroup/%s", controller);
	if (!make_group(parent, name, path)) return false;
	bool made = put_file(path, memory ? "memory.limit_in_bytes" : "pids.max", limit);
	if (made && memory) put_file(path, "memory.memsw.limit_in_bytes", limit); // only where swap is accounted
	if (!made) {
		rmdir(path);
		return false;
	}
	cgroups->memory[cgroups->count] = memory;
	cgroups->processes[cgroups->count] = !memory;
	cgroups->count++;
	return true;
}

static bool passes_controllers(const char *parent, bool memory, bool processes) {
	char path[CGROUP_PATH + 64];
	size_t size = 0;
	snprintf(path, sizeof path, "%s/cgroup.subtree_control", parent);
	char *list = read_file(AT_FDCWD, path, MAX_CGROUP_FILE, &size);
	bool passes = list && (!memory || has_word(list, "memory")) && (!processes || has_word(list, "pids"));
	free(list);
	return passes;
}

// Version 2: a group below the own one when that hands controllers on (the root, or an empty delegated one), else beside it.
static bool make_version2(struct cgroups *cgroups, uint64_t memory_bytes, uint64_t max_processes, const char *name) {
	char own[256], parent[CGROUP_PATH], *path = cgroups->paths[cgroups->count];
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) != 0 || !own_group("", own, sizeof own)) return false;
	snprintf(parent, sizeof parent, "/sys/fs/cgroup%s", own[1] ? own : "");
	if (!passes_controllers(parent, memory_bytes > 0, max_processes > 0)) {
		char *slash = own[1] ? strrchr(parent, '/') : NULL;
		if (!slash) return false;
		*slash = 0;
		if (!passes_controllers(parent, memory_bytes > 0, max_processes > 0)) return false;
	}
	if (!make_group(parent, name, path)) return false;
	bool made = (!memory_bytes || put_file(path, "memory.max", memory_bytes)) && (!max_processes || put_file(path, "pids.max", max_processes));
	if (!made) {
		rmdir(path);
		return false;
	}
	if (memory_bytes) put_file(path, "memory.swap.max", 0);
	cgroups->memory[cgroups->count] = memory_bytes > 0;
	cgroups->processes[cgroups->count] = max_processes > 0;
	cgroups->version2[cgroups->count++] = true;
	return true;
}

void cgroups_make(struct cgroups *cgroups, uint64_t memory_bytes, uint64_t max_processes, int pid, uint64_t start_ticks) {
	char name[64];
	cgroups->count = 0;
	if (!memory_bytes && !max_processes) return;
	snprintf(name, sizeof name, "orrery-%d-%llu", pid, (unsigned long long)start_ticks);
	if (make_version2(cgroups, memory_bytes, max_processes, name)) return;
	if (memory_bytes) make_version1(cgroups, "memory", memory_bytes, name);
	if (max_processes) make_version1(cgroups, "pids", max_processes, name);
}

bool cgroups_hold(const struct cgroups *cgroups, bool memory) {
	for (int i = 0; i < cgroups->count; i++)
		if (memory ? cgroups->memory[i] : cgroups->processes[i]) return true;
	return false;
}

void cgroups_open_members(const struct cgroups *cgroups, int fds[MAX_CGROUPS]) {
	for (int i = 0; i < MAX_CGROUPS; i++) {
		char path[CGROUP_PATH + 64];
		fds[i] = -1;
		if (i >= cgroups->count) continue;
		snprintf(path, sizeof path, "%s/cgroup.procs", cgroups->paths[i]);
		fds[i] = open(path, O_WRONLY | O_CLOEXEC);
		if (fds[i] < 0) fds[i] = open("/dev/full", O_WRONLY | O_CLOEXEC); // joining fails, and with it the group, not silently
	}
}

// The number behind `word` in a file of lines "word number".
static uint64_t counter(const char *group, const char *name, const char *word) {
	char path[CGROUP_PATH + 64];
	size_t size = 0, length = strlen(word);
	snprintf(path, sizeof path, "%s/%s", group, name);
	char *content = read_file(AT_FDCWD, path, MAX_CGROUP_FILE, &size), *rest = NULL;
	uint64_t value = 0;
	for (char *line = content ? strtok_r(content, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, word, length) == 0 && line[length] == ' ') value = strtoull(line + length, NULL, 10);
	free(content);
	return value;
}

bool cgroups_hit_memory(const struct cgroups *cgroups) {
	for (int i = 0; i < cgroups->count; i++)
		if (cgroups->memory[i] && counter(cgroups->paths[i], cgroups->version2[i] ? "memory.events" : "memory.oom_control", "oom_kill") > 0) return true;
	return false;
}

bool cgroups_hit_processes(const struct cgroups *cgroups) {
	for (int i = 0; i < cgroups->count; i++)
		if (cgroups->processes[i] && counter(cgroups->paths[i], "pids.events", "max") > 0) return true;
	return false;
}

void cgroups_remove(struct cgroups *cgroups) {
	for (int i = 0; i < cgroups->count; i++)
		for (int attempt = 0; attempt < REMOVE_TRIES && rmdir(cgroups->paths[i]) != 0 && errno == EBUSY; attempt++) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	cgroups->count = 0;
}
