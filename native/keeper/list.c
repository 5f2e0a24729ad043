// The tree below a folder, for a node that compares it with what it knows.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "below.h"
#include "commands.h"
#include "keeper.h"
#include "stream.h"

enum { TARGET_ROOM = 64 << 10, MAX_SKIPS = 1024 };

struct list {
	struct sink out;
	char **skips;
	size_t skip_count;
	char path[BELOW_ROOM];
	char target[TARGET_ROOM];
};

static char type_of(mode_t mode) { return S_ISREG(mode) ? 'f' : S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : 'o'; }

static bool is_skipped(const struct list *list, const char *path) {
	for (size_t i = 0; i < list->skip_count; i++)
		if (strcmp(list->skips[i], path) == 0) return true;
	return false;
}

static enum below_step list_entry(void *context, const struct below_entry *entry) {
	struct list *list = context;
	const struct stat *s = entry->stat;
	char fields[160];
	ssize_t target = 0;
	if (is_skipped(list, entry->path)) return BELOW_OVER;
	if (S_ISLNK(s->st_mode)) target = readlinkat(entry->parent, entry->name, list->target, sizeof list->target);
	if (target < 0) return BELOW_ON; // no link any more: as one that came after its folder was read
	int size = snprintf(fields, sizeof fields, "%c%c%o%c%llu%c%lld%09ld%c%lld%09ld%c%llu", type_of(s->st_mode), 0, (unsigned)s->st_mode & 07777u, 0, (unsigned long long)s->st_size, 0,
		(long long)s->st_mtim.tv_sec, s->st_mtim.tv_nsec, 0, (long long)s->st_ctim.tv_sec, s->st_ctim.tv_nsec, 0, (unsigned long long)s->st_ino);
	bool put = sink_put(&list->out, entry->path, strlen(entry->path) + 1) && sink_put(&list->out, fields, (size_t)size + 1) &&
		sink_put(&list->out, list->target, (size_t)target) && sink_put(&list->out, "", 1);
	return put ? BELOW_ON : BELOW_STOP;
}

static int list_below(struct list *list, const char *dir) {
	list->out.fd = STDOUT_FILENO;
	below_raise_limit();
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) return fail_errno(dir);
	// The end is said: a list that was cut is not taken for a whole one.
	if (below_walk(fd, list->path, list_entry, list)) return sink_put(&list->out, "", 1) && sink_flush(&list->out) ? 0 : fail_errno("stdout");
	return errno ? fail_errno(list->path[0] ? list->path : dir) : fail(FAIL_SYSTEM, "EPIPE", "stdout");
}

int command_list(int count, char **words) {
	const char *dir = NULL;
	struct list *list = calloc(1, sizeof *list);
	if (!list || !(list->skips = calloc((size_t)count + 1, sizeof *list->skips))) return fail_errno("list");
	for (int i = 0; i < count; i++) {
		if (strcmp(words[i], "--skip") == 0) {
			if (i + 1 == count || list->skip_count == MAX_SKIPS || !below_clean(words[i + 1]) || !*words[i + 1]) return usage("--skip needs a relative path");
			list->skips[list->skip_count++] = words[++i];
		} else if (!dir && words[i][0] && strncmp(words[i], "--", 2) != 0) dir = words[i];
		else return usage("unknown word or option");
	}
	return dir ? list_below(list, dir) : usage("a path is needed");
}
