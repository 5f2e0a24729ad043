// Ends keepers from outside and takes their folders away: for a node that can only run commands here.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "commands.h"
#include "frame.h"
#include "keeper.h"
#include "look.h"

enum { ASK_MS = 5000, GONE_MS = 10000, STEP_MS = 5, NAME_ROOM = 256 };
static const char *const own_files[] = {"spec", "env", "status", "guarantees", "sock", "stdout", "stderr", "released", "input", "exit"};

static bool is_own(const char *name) {
	for (size_t i = 0; i < sizeof own_files / sizeof *own_files; i++) {
		size_t length = strlen(own_files[i]);
		if (strncmp(name, own_files[i], length) == 0 && (!name[length] || strcmp(name + length, ".tmp") == 0)) return true;
	}
	return false;
}

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

// The first name in the folder that no keeper and no client put there; "" when there is none. False with errno.
static bool find_foreign(int dir_fd, char *name, size_t size) {
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	name[0] = 0;
	if (!folder) return false;
	for (struct dirent *entry; !name[0] && (entry = readdir(folder));)
		if (!is_dots(entry->d_name) && !is_own(entry->d_name)) snprintf(name, size, "%s", entry->d_name);
	closedir(folder);
	return true;
}

static bool is_gone(const struct look *look) { return start_ticks_of(look->pid) != look->start_ticks; }

static bool wait_gone(const struct look *look) {
	uint64_t until = now_ms() + GONE_MS;
	while (!is_gone(look)) {
		if (now_ms() > until) return false;
		nanosleep(&(struct timespec){.tv_nsec = STEP_MS * 1000000}, NULL);
	}
	return true;
}

// In the words of its socket: everything ended, then leave. False when it does not answer so.
static bool ask_to_leave(int dir_fd) {
	struct answer answer;
	int fd = ask_connect(dir_fd);
	if (fd < 0) return false;
	uint64_t until = now_ms() + ASK_MS;
	bool left = ask(fd, REQUEST_KILL, NULL, 0, until, &answer) && answer.ok && ask(fd, REQUEST_FINISH, NULL, 0, until, &answer) && answer.ok;
	close(fd);
	return left;
}

static int remove_own(int parent, const char *name, int dir_fd, const char *dir) {
	for (size_t i = 0; i < sizeof own_files / sizeof *own_files; i++) {
		char half_made[32];
		snprintf(half_made, sizeof half_made, "%s.tmp", own_files[i]);
		if ((unlinkat(dir_fd, own_files[i], 0) != 0 && errno != ENOENT) || (unlinkat(dir_fd, half_made, 0) != 0 && errno != ENOENT)) return fail_errno(dir);
	}
	if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
	return errno == ENOTEMPTY || errno == EEXIST ? fail(FAIL_NOT_EMPTY, "not-empty", dir) : fail_errno(dir);
}

// `name` below `parent`; `dir` is what people call it.
static int settle(int parent, const char *name, const char *dir) {
	struct look look;
	char foreign[NAME_ROOM];
	int dir_fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir_fd < 0 && errno == ENOENT) return 0;
	if (dir_fd < 0 || !find_foreign(dir_fd, foreign, sizeof foreign)) return fail_errno(dir);
	int code = 0;
	if (foreign[0]) code = fail(FAIL_NOT_EMPTY, "not-empty", foreign);
	else if (!look_at(dir_fd, &look)) code = fail_errno(dir);
	else {
		free(look.exit);
		if (look.alive && !ask_to_leave(dir_fd)) system_kill(look.pid, look.start_ticks);
		if (look.alive && !wait_gone(&look)) code = fail(FAIL_BUSY, "still-running", dir);
		else code = remove_own(parent, name, dir_fd, dir);
	}
	close(dir_fd);
	return code;
}

int command_settle(int count, char **words) {
	const char *dir;
	if (!take_words(count, words, &dir, NULL, 0)) return EXIT_USAGE;
	return settle(AT_FDCWD, dir, dir);
}

int command_sweep(int count, char **words) {
	const char *root;
	if (!take_words(count, words, &root, NULL, 0)) return EXIT_USAGE;
	DIR *folder = opendir(root);
	int code = 0;
	if (!folder) return errno == ENOENT ? 0 : fail_errno(root);
	for (struct dirent *entry; (entry = readdir(folder));) {
		struct stat stat_of;
		if (is_dots(entry->d_name) || fstatat(dirfd(folder), entry->d_name, &stat_of, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(stat_of.st_mode)) continue;
		int failure = settle(dirfd(folder), entry->d_name, entry->d_name);
		if (failure) code = failure;
		else if (printf("%s\n", entry->d_name) < 0) return fail_errno("stdout");
	}
	closedir(folder);
	return fflush(stdout) == 0 ? code : fail_errno("stdout");
}
