#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

enum { MAX_DEPTH = 4096, MAX_FILE = 1 << 20 };

struct pids {
	int *items;
	size_t count, room;
};

static void add(struct pids *pids, int pid) {
	if (pids->count == pids->room) {
		size_t room = pids->room ? pids->room * 2 : 64;
		int *items = realloc(pids->items, room * sizeof *items);
		if (!items) return; // the next round sees it again
		pids->items = items;
		pids->room = room;
	}
	pids->items[pids->count++] = pid;
}

static void add_children_of_task(struct pids *pids, const char *path) {
	size_t size = 0;
	char *list = read_file(AT_FDCWD, path, MAX_FILE, &size);
	if (!list) return;
	for (char *at = list, *end; *at; at = end) {
		long pid = strtol(at, &end, 10);
		if (end == at) break;
		if (pid > 0) add(pids, (int)pid);
		while (*end == ' ') end++;
	}
	free(list);
}

static void add_children(struct pids *pids, int parent) {
	char path[320];
	snprintf(path, sizeof path, "/proc/%d/task", parent);
	DIR *tasks = opendir(path);
	if (!tasks) return;
	for (struct dirent *task; (task = readdir(tasks));) {
		if (task->d_name[0] == '.') continue;
		snprintf(path, sizeof path, "/proc/%d/task/%s/children", parent, task->d_name);
		add_children_of_task(pids, path);
	}
	closedir(tasks);
}

// Reads ppid and the four cpu fields of a process; false when it is gone.
static bool read_stat(int pid, int *parent, uint64_t *ticks) {
	char path[48];
	size_t size = 0;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	char *stat = read_file(AT_FDCWD, path, 8192, &size);
	char *at = stat ? strrchr(stat, ')') : NULL;
	unsigned long long user = 0, system = 0;
	long long children_user = 0, children_system = 0;
	bool read = at && sscanf(at + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld", parent, &user, &system, &children_user, &children_system) == 5;
	*ticks = read ? user + system + (uint64_t)children_user + (uint64_t)children_system : 0;
	free(stat);
	return read;
}

// Kernels without /proc/<pid>/task/<tid>/children: look at every process and follow parents.
static void add_by_scan(struct pids *tree, int root) {
	struct pids all = {0}, parents = {0};
	DIR *proc = opendir("/proc");
	if (!proc) return;
	for (struct dirent *entry; (entry = readdir(proc));) {
		int pid = atoi(entry->d_name), parent = 0;
		uint64_t ticks = 0;
		if (pid <= 0 || !read_stat(pid, &parent, &ticks)) continue;
		add(&all, pid);
		add(&parents, parent);
	}
	closedir(proc);
	add(tree, root);
	for (size_t at = 0; at < tree->count; at++)
		for (size_t i = 0; i < all.count && i < parents.count; i++)
			if (parents.items[i] == tree->items[at]) add(tree, all.items[i]);
	if (tree->count) memmove(tree->items, tree->items + 1, --tree->count * sizeof *tree->items);
	free(all.items);
	free(parents.items);
}

static struct pids descendants(int root) {
	struct pids tree = {0};
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", root, root);
	if (access(path, R_OK) != 0) {
		add_by_scan(&tree, root);
		return tree;
	}
	add_children(&tree, root);
	for (size_t at = 0; at < tree.count; at++) add_children(&tree, tree.items[at]);
	return tree;
}

struct tree_usage tree_usage(int root) {
	struct tree_usage usage = {0};
	struct pids tree = descendants(root);
	uint64_t ticks = 0, total = 0;
	int parent = 0;
	if (read_stat(root, &parent, &ticks)) total += ticks;
	for (size_t i = 0; i < tree.count; i++) {
		if (!read_stat(tree.items[i], &parent, &ticks)) continue;
		total += ticks;
		usage.processes++;
		char path[48];
		size_t size = 0;
		snprintf(path, sizeof path, "/proc/%d/statm", tree.items[i]);
		char *statm = read_file(AT_FDCWD, path, 4096, &size);
		unsigned long long all = 0, resident = 0, shared = 0;
		if (statm && sscanf(statm, "%llu %llu %llu", &all, &resident, &shared) == 3 && resident > shared)
			usage.private_bytes += (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
		free(statm);
	}
	usage.cpu_ms = total * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
	free(tree.items);
	return usage;
}

bool tree_may_hold(int root, int pid) {
	if (pid < 0) return true;
	uint64_t ticks = 0;
	for (int depth = 0; depth < MAX_DEPTH && pid > 1; depth++) {
		if (pid == root || !read_stat(pid, &pid, &ticks)) return true;
	}
	return pid > 1;
}

static void signal_descendants(int signal) {
	struct pids tree = descendants(getpid());
	for (size_t i = 0; i < tree.count; i++) kill(tree.items[i], signal);
	free(tree.items);
}

void tree_end(int group) {
	(void)group;
	for (;;) {
		// Stopped first, so that a tree that forks faster than it can be listed stands still.
		signal_descendants(SIGSTOP);
		signal_descendants(SIGKILL);
		pid_t pid;
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0);
		if (pid < 0 && errno == ECHILD) return;
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}
