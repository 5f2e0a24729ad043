// One file in, one file out: `put` and `take`.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "keeper.h"
#include "stream.h"

enum { TEMPORARY_TRIES = 100, ANY_MODE = 07777 };

static bool parse_mode(const char *word, mode_t *mode) {
	uint64_t number = 0;
	if (!parse_number(word, 8, ANY_MODE, &number)) return usage("a mode is octal, at most 7777"), false;
	*mode = (mode_t)number;
	return true;
}

// Makes the folders before the last component. Names on the way may be links: the caller chose the path.
static bool make_parents(const char *path, mode_t mode) {
	char *part = strdup(path);
	bool made = part != NULL;
	for (char *slash = part ? strchr(part + 1, '/') : NULL; made && slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		if (mkdir(part, 0700) == 0) made = chmod(part, mode) == 0;
		else made = errno == EEXIST || errno == EISDIR || access(part, F_OK) == 0;
		*slash = '/';
	}
	free(part);
	return made;
}

static int open_folder_of(const char *path, const char **name) {
	const char *slash = strrchr(path, '/');
	*name = slash ? slash + 1 : path;
	if (!slash) return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *folder = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	free(folder);
	return fd;
}

// A file that nobody else has, under a name nobody uses.
static int open_temporary(int folder, char *name, size_t size) {
	for (int i = 0; i < TEMPORARY_TRIES; i++) {
		snprintf(name, size, ".orrery-%ld-%d.tmp", (long)getpid(), i);
		int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST) return fd;
	}
	return -1;
}

// All of stdin; false with errno.
static bool copy_stdin(int fd, uint64_t *size) {
	static struct source in = {.fd = STDIN_FILENO};
	while (source_fill(&in)) {
		if (!write_all(fd, in.bytes + in.start, in.end - in.start)) return false;
		*size += in.end - in.start;
		in.start = in.end;
	}
	errno = in.failure;
	return in.failure == 0;
}

struct put { const char *path, *size; mode_t mode; bool sync; };

static int put_into(const struct put *put, int folder, const char *name) {
	char temporary[64];
	uint64_t size = 0, announced = 0;
	int fd = open_temporary(folder, temporary, sizeof temporary), code = 0;
	if (fd < 0) return fail_errno(put->path);
	if (put->size && !parse_number(put->size, 10, INT64_MAX, &announced)) code = usage("--size is a number of bytes");
	else if (!copy_stdin(fd, &size)) code = fail_errno(put->path);
	else if (put->size && size != announced) code = fail(FAIL_BAD_STREAM, "bad-stream", "stdin had not as many bytes as announced");
	else if (fchmod(fd, put->mode) != 0 || (put->sync && fsync(fd) != 0)) code = fail_errno(put->path);
	if (close(fd) != 0 && !code) code = fail_errno(put->path);
	if (!code && renameat(folder, temporary, folder, name) != 0) code = fail_errno(put->path);
	if (!code && put->sync && fsync(folder) != 0) return fail_errno(put->path);
	if (code) unlinkat(folder, temporary, 0);
	return code;
}

int command_put(int count, char **words) {
	struct option options[] = {{.name = "--mode"}, {.name = "--make-parents"}, {.name = "--size"}, {.name = "--sync", .is_flag = true}};
	struct put put = {0};
	mode_t parents = 0;
	const char *name;
	if (!take_words(count, words, &put.path, options, sizeof options / sizeof *options)) return EXIT_USAGE;
	if (!options[0].value) return usage("put needs --mode");
	if (!parse_mode(options[0].value, &put.mode) || (options[1].value && !parse_mode(options[1].value, &parents))) return EXIT_USAGE;
	put.size = options[2].value;
	put.sync = options[3].value != NULL;
	umask(0);
	if (options[1].value && !make_parents(put.path, parents)) return fail_errno(put.path);
	int folder = open_folder_of(put.path, &name);
	if (folder < 0) return fail_errno(put.path);
	return *name ? put_into(&put, folder, name) : usage("put needs the path of a file");
}

static int take(int fd, const char *path, uint64_t limit) {
	static struct source in;
	uint64_t total = 0;
	in.fd = fd;
	while (source_fill(&in)) {
		size_t size = in.end - in.start;
		if (size > limit - total) return fail(FAIL_LIMIT, "limit", path);
		if (!write_all(STDOUT_FILENO, in.bytes + in.start, size)) return fail_errno("stdout");
		total += size;
		in.start = in.end;
	}
	errno = in.failure;
	return in.failure ? fail_errno(path) : 0;
}

int command_take(int count, char **words) {
	struct option options[] = {{.name = "--limit"}, {.name = "--follow", .is_flag = true}};
	const char *path;
	uint64_t limit = INT64_MAX;
	struct stat stat_of;
	if (!take_words(count, words, &path, options, sizeof options / sizeof *options)) return EXIT_USAGE;
	if (options[0].value && !parse_number(options[0].value, 10, INT64_MAX, &limit)) return usage("--limit is a number of bytes");
	// Not to wait for the other end of a fifo.
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (options[1].value ? 0 : O_NOFOLLOW));
	if (fd < 0 || fstat(fd, &stat_of) != 0) return fail_errno(path);
	if (!S_ISREG(stat_of.st_mode)) return fail(FAIL_SYSTEM, "not-a-file", path);
	return (uint64_t)stat_of.st_size > limit ? fail(FAIL_LIMIT, "limit", path) : take(fd, path, limit);
}
