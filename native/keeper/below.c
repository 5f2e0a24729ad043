#include "below.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FOLDER_MODE = 0755, REMOVE_ROUNDS = 4096, MOVE_DEPTH = 500 };
#ifdef O_PATH
enum { ON_THE_WAY = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
#else
enum { ON_THE_WAY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
#endif
enum { TO_READ = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

bool below_clean(char *path) {
	char *to = path;
	if (path[0] == '/') return false;
	for (const char *at = path; *at;) {
		size_t length = strcspn(at, "/");
		if (length == 2 && at[0] == '.' && at[1] == '.') return false;
		if (length > 0 && !(length == 1 && at[0] == '.')) {
			if (to > path) *to++ = '/';
			memmove(to, at, length);
			to += length;
		}
		at += length + (at[length] == '/');
	}
	*to = 0;
	return true;
}

static bool make_folder(int parent, const char *name, const struct below_making *making) {
	struct stat stat_of;
	if (fstatat(parent, name, &stat_of, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISDIR(stat_of.st_mode) && unlinkat(parent, name, 0) != 0) return false;
	if (mkdirat(parent, name, FOLDER_MODE) != 0) return errno == EEXIST;
	return !making->chown || fchownat(parent, name, making->uid, making->gid, AT_SYMLINK_NOFOLLOW) == 0;
}

int below_parent(int root, const char *path, const char **name, const struct below_making *making) {
	char part[NAME_MAX + 1];
	int fd = fcntl(root, F_DUPFD_CLOEXEC, 0);
	for (const char *slash; fd >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		size_t length = (size_t)(slash - path);
		int next = -1;
		if (length >= sizeof part) errno = ENAMETOOLONG;
		else {
			memcpy(part, path, length);
			part[length] = 0;
			next = openat(fd, part, ON_THE_WAY);
			bool absent = next < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
			if (absent && making && make_folder(fd, part, making)) next = openat(fd, part, ON_THE_WAY);
		}
		int failure = errno;
		close(fd);
		errno = failure == ELOOP ? ENOTDIR : failure;
		fd = next;
	}
	*name = path;
	return fd;
}

int below_folder(int parent, const char *name) { return openat(parent, name, TO_READ); }

static bool is_dots(const char *name) { return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2])); }

int below_folder_to_change(int parent, const char *name) {
	struct stat stat_of;
#ifdef O_PATH
	char by_descriptor[40];
	int path = openat(parent, name, ON_THE_WAY);
	if (path < 0) return -1;
	snprintf(by_descriptor, sizeof by_descriptor, "/proc/self/fd/%d", path);
	if (fstat(path, &stat_of) == 0 && (stat_of.st_mode & 0700) != 0700 && chmod(by_descriptor, 0700) != 0) { /* opening says why */ }
	close(path);
#endif
	int fd = openat(parent, name, TO_READ);
	if (fd >= 0 && fstat(fd, &stat_of) == 0 && (stat_of.st_mode & 0700) != 0700 && fchmod(fd, 0700) != 0) { /* changing it says why */ }
	return fd;
}

// A removal: the outermost folder, into which is moved what lies deeper than descriptors should go.
struct removal {
	int top;
	unsigned moved;
};

static bool remove_entry(struct removal *removal, int parent, const char *name, int depth);

static bool empty_folder(struct removal *removal, int fd, int depth) {
	DIR *folder = fdopendir(fd);
	bool emptied = folder != NULL;
	if (!folder) {
		int failure = errno;
		close(fd);
		errno = failure;
		return false;
	}
	if (depth == 0) removal->top = dirfd(folder);
	for (struct dirent *entry; emptied && (entry = readdir(folder));)
		if (!is_dots(entry->d_name)) emptied = remove_entry(removal, dirfd(folder), entry->d_name, depth + 1);
	int failure = errno;
	closedir(folder);
	errno = failure;
	return emptied;
}

// The outermost folder is emptied again until it is empty, and this with it.
static bool move_up(struct removal *removal, int parent, const char *name) {
	char place[64];
	int fd = below_folder_to_change(parent, name); // a folder that moves has to be writable itself
	if (fd < 0) return false;
	close(fd);
	snprintf(place, sizeof place, ".orrery-%ld-%u.gone", (long)getpid(), ++removal->moved);
	return renameat(parent, name, removal->top, place) == 0;
}

static bool remove_entry(struct removal *removal, int parent, const char *name, int depth) {
	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) return true;
	int failure = errno;
	if (failure != EISDIR && failure != EPERM) return false;
	if (depth > MOVE_DEPTH) return move_up(removal, parent, name);
	// Others may put something in while it is emptied.
	for (int round = 0; round < REMOVE_ROUNDS; round++) {
		if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
		if (errno == ENOTDIR) errno = failure;
		if (errno != ENOTEMPTY && errno != EEXIST) return false;
		int fd = below_folder_to_change(parent, name);
		if (fd < 0 || !empty_folder(removal, fd, depth)) return false;
	}
	return false;
}

bool below_remove(int parent, const char *name) { return remove_entry(&(struct removal){.top = -1}, parent, name, 0); }

void below_raise_limit(void) {
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

struct walk {
	char *path;
	below_visit *visit;
	void *context;
};

static bool walk_folder(struct walk *walk, int fd, size_t length, int depth);

static bool walk_entry(struct walk *walk, int parent, const char *name, size_t length, int depth) {
	struct stat stat_of;
	if (fstatat(parent, name, &stat_of, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
	struct below_entry entry = {.parent = parent, .name = name, .path = walk->path, .stat = &stat_of};
	enum below_step step = walk->visit(walk->context, &entry);
	if (step == BELOW_STOP) {
		errno = 0;
		return false;
	}
	if (step == BELOW_OVER || !S_ISDIR(stat_of.st_mode)) return true;
	int fd = openat(parent, name, TO_READ);
	if (fd < 0) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP; // gone or replaced meanwhile
	return walk_folder(walk, fd, length, depth + 1);
}

static bool walk_folder(struct walk *walk, int fd, size_t length, int depth) {
	DIR *folder = depth <= BELOW_DEPTH ? fdopendir(fd) : NULL;
	if (!folder) {
		int failure = depth > BELOW_DEPTH ? ENAMETOOLONG : errno;
		close(fd);
		errno = failure;
		return false;
	}
	bool whole = true;
	for (;;) {
		errno = 0;
		struct dirent *entry = readdir(folder);
		if (!entry) {
			whole = errno == 0;
			break;
		}
		if (is_dots(entry->d_name)) continue;
		size_t added = strlen(entry->d_name) + (length > 0);
		whole = length + added < BELOW_ROOM;
		if (!whole) errno = ENAMETOOLONG;
		else {
			snprintf(walk->path + length, BELOW_ROOM - length, "%s%s", length ? "/" : "", entry->d_name);
			whole = walk_entry(walk, dirfd(folder), entry->d_name, length + added, depth);
		}
		if (!whole) break;
		walk->path[length] = 0;
	}
	int failure = errno;
	closedir(folder);
	errno = failure;
	return whole;
}

bool below_walk(int fd, char path[BELOW_ROOM], below_visit *visit, void *context) {
	return walk_folder(&(struct walk){path, visit, context}, fd, strlen(path), 0);
}
