// A tar stream into a folder, and paths out of it. Neither ever leaves the folder: every step is taken by descriptor, never through a link.
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
#include "tar.h"

enum { MAX_FOLDERS = 1 << 20, MAX_FOLDER_BYTES = 256 << 20 };

// What a folder gets when everything is in it.
struct folder { char *path; size_t order; mode_t mode; struct timespec mtime; };

struct unpack {
	struct source in;
	struct tar_member member;
	char from[BELOW_ROOM], from_path[BELOW_ROOM];
	int root;
	struct below_making making;
	mode_t mode_mask;
	struct folder *folders;
	size_t folder_count, folder_room, folder_bytes;
};

static int bad_archive(const char *why) { return fail(FAIL_BAD_STREAM, "bad-archive", why); }

static int copy_member(struct unpack *u, int fd) {
	for (uint64_t left = u->member.size; left > 0;) {
		if (!source_fill(&u->in)) return bad_archive("it ends within a file");
		size_t ready = u->in.end - u->in.start, part = left < ready ? (size_t)left : ready;
		if (!write_all(fd, u->in.bytes + u->in.start, part)) return fail_errno(u->member.path);
		u->in.start += part;
		left -= part;
	}
	return tar_pad(&u->in, u->member.size) ? 0 : bad_archive("it ends within a file");
}

static int make_file(struct unpack *u, int parent, const char *name) {
	const struct tar_member *m = &u->member;
	if (!below_remove(parent, name)) return fail_errno(m->path);
	int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) return fail_errno(m->path);
	int code = copy_member(u, fd);
	struct timespec times[2] = {m->mtime, m->mtime};
	if (!code && u->making.chown && fchown(fd, u->making.uid, u->making.gid) != 0) code = fail_errno(m->path);
	if (!code && (fchmod(fd, m->mode & u->mode_mask) != 0 || futimens(fd, times) != 0)) code = fail_errno(m->path);
	if (close(fd) != 0 && !code) code = fail_errno(m->path);
	return code;
}

static bool remember_folder(struct unpack *u) {
	size_t size = strlen(u->member.path) + 1;
	if (u->folder_count == MAX_FOLDERS || u->folder_bytes + size > MAX_FOLDER_BYTES) {
		errno = E2BIG;
		return false;
	}
	if (u->folder_count == u->folder_room) {
		size_t room = u->folder_room ? u->folder_room * 2 : 64;
		struct folder *folders = realloc(u->folders, room * sizeof *folders);
		if (!folders) return false;
		u->folders = folders;
		u->folder_room = room;
	}
	char *path = malloc(size);
	if (!path) return false;
	memcpy(path, u->member.path, size);
	u->folders[u->folder_count] = (struct folder){path, u->folder_count, u->member.mode & u->mode_mask, u->member.mtime};
	u->folder_count++;
	u->folder_bytes += size;
	return true;
}

// Its mode and time come at the end; until then it can be written into.
static int make_folder(struct unpack *u, int parent, const char *name) {
	struct stat s;
	const char *path = u->member.path;
	bool is_there = fstatat(parent, name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(s.st_mode);
	if (!is_there) {
		if (!below_remove(parent, name) || mkdirat(parent, name, 0700) != 0) return fail_errno(path);
		if (u->making.chown && fchownat(parent, name, u->making.uid, u->making.gid, AT_SYMLINK_NOFOLLOW) != 0) return fail_errno(path);
	} else if ((s.st_mode & 0700) != 0700) {
		int fd = below_folder_to_change(parent, name);
		if (fd < 0) return fail_errno(path);
		close(fd);
	}
	return remember_folder(u) ? 0 : fail_errno(path);
}

static int make_symlink(struct unpack *u, int parent, const char *name) {
	const struct tar_member *m = &u->member;
	struct timespec times[2] = {m->mtime, m->mtime};
	if (!m->target[0]) return bad_archive("a link without a target");
	if (!below_remove(parent, name) || symlinkat(m->target, parent, name) != 0) return fail_errno(m->path);
	if (u->making.chown && fchownat(parent, name, u->making.uid, u->making.gid, AT_SYMLINK_NOFOLLOW) != 0) return fail_errno(m->path);
	return utimensat(parent, name, times, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : fail_errno(m->path);
}

// A second name of a file that the archive brought before.
static int make_hard_link(struct unpack *u, int parent, const char *name) {
	const char *from_name;
	struct stat s;
	snprintf(u->from, sizeof u->from, "%s", u->member.target);
	if (!below_clean(u->from) || !u->from[0]) return bad_archive("a hard link leads out of the folder");
	if (strcmp(u->from, u->member.path) == 0) return 0;
	int from = below_parent(u->root, u->from, &from_name, NULL);
	if (from < 0) return fail_errno(u->from);
	int code = 0;
	if (fstatat(from, from_name, &s, AT_SYMLINK_NOFOLLOW) != 0) code = fail_errno(u->from);
	else if (!S_ISREG(s.st_mode)) code = bad_archive("a hard link to what is no file");
	else if (!below_remove(parent, name) || linkat(from, from_name, parent, name, 0) != 0) code = fail_errno(u->member.path);
	close(from);
	return code;
}

static int make_member(struct unpack *u) {
	struct tar_member *m = &u->member;
	const char *name;
	if (!below_clean(m->path)) return bad_archive("a path is absolute or has `..`");
	if (m->type == TAR_OTHER) {
		note_line("left out", m->path);
		return 0;
	}
	if (!m->path[0]) return m->type == TAR_FOLDER ? 0 : bad_archive("a member without a name");
	int parent = below_parent(u->root, m->path, &name, &u->making);
	if (parent < 0) return fail_errno(m->path);
	int code = 0;
	switch (m->type) {
	case TAR_FILE: code = make_file(u, parent, name); break;
	case TAR_FOLDER: code = make_folder(u, parent, name); break;
	case TAR_SYMLINK: code = make_symlink(u, parent, name); break;
	case TAR_HARD_LINK: code = make_hard_link(u, parent, name); break;
	case TAR_OTHER: break;
	}
	close(parent);
	return code;
}

// Of a folder that came twice the last word comes last.
static int by_path_backwards(const void *a, const void *b) {
	const struct folder *one = a, *two = b;
	int order = strcmp(two->path, one->path);
	return order ? order : (one->order > two->order) - (one->order < two->order);
}

// What is below a folder before the folder itself: a closed one could not be passed any more.
static int finish_folders(struct unpack *u) {
	if (u->folder_count) qsort(u->folders, u->folder_count, sizeof *u->folders, by_path_backwards);
	for (size_t i = 0; i < u->folder_count; i++) {
		const struct folder *f = &u->folders[i];
		struct timespec times[2] = {f->mtime, f->mtime};
		const char *name;
		int parent = below_parent(u->root, f->path, &name, NULL), fd = parent >= 0 ? below_folder(parent, name) : -1, failure = errno;
		if (parent >= 0) close(parent);
		errno = failure;
		if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) continue; // a later member took its place
		if (fd < 0 || fchmod(fd, f->mode) != 0 || futimens(fd, times) != 0) return fail_errno(f->path);
		close(fd);
	}
	return 0;
}

static int unpack_all(struct unpack *u) {
	const char *why = NULL;
	for (;;) {
		enum tar_result result = tar_next(&u->in, &u->member, &why);
		if (result == TAR_BAD) return bad_archive(why);
		if (result == TAR_END) break;
		int code = make_member(u);
		if (code) return code;
	}
	while (source_fill(&u->in)) u->in.start = u->in.end; // who sends must not be cut off within the padding
	return finish_folders(u);
}

// Removes each path that is told until an empty one, or until the end where that is allowed.
static int remove_told(struct source *in, int root, char path[BELOW_ROOM], bool until_empty) {
	for (;;) {
		enum name_result result = source_name(in, path, BELOW_ROOM);
		if (result == NAME_END && !until_empty) return 0;
		if (result != NAME_TAKEN) return fail(FAIL_BAD_STREAM, "bad-stream", "a path is too long or not ended by NUL");
		if (!path[0] && until_empty) return 0;
		const char *name;
		if (!below_clean(path) || !path[0]) return fail(FAIL_BAD_STREAM, "bad-stream", "a path is empty, absolute or has `..`");
		int parent = below_parent(root, path, &name, NULL);
		if (parent < 0 && errno != ENOENT && errno != ENOTDIR) return fail_errno(path);
		if (parent < 0) continue; // not there, or behind something that is no folder: then it is not below this one
		bool removed = below_remove(parent, name);
		int failure = errno;
		close(parent);
		errno = failure;
		if (!removed) return fail_errno(path);
	}
}

static bool parse_owner(const char *word, struct below_making *making) {
	char user[24];
	uint64_t uid = 0, gid = 0;
	const char *colon = strchr(word, ':');
	if (!colon || (size_t)(colon - word) >= sizeof user) return usage("--owner is UID:GID"), false;
	memcpy(user, word, (size_t)(colon - word));
	user[colon - word] = 0;
	if (!parse_number(user, 10, UINT32_MAX - 1, &uid) || !parse_number(colon + 1, 10, UINT32_MAX - 1, &gid)) return usage("--owner is UID:GID"), false;
	*making = (struct below_making){.chown = true, .uid = (uid_t)uid, .gid = (gid_t)gid};
	return true;
}

int command_unpack(int count, char **words) {
	struct option options[] = {{.name = "--delete-stdin-first", .is_flag = true}, {.name = "--keep-special", .is_flag = true}, {.name = "--owner"}, {.name = "--make", .is_flag = true}};
	struct unpack *u = calloc(1, sizeof *u);
	const char *dir;
	if (!take_words(count, words, &dir, options, sizeof options / sizeof *options)) return EXIT_USAGE;
	if (!u) return fail_errno(dir);
	if (options[2].value && !parse_owner(options[2].value, &u->making)) return EXIT_USAGE;
	umask(0);
	below_raise_limit();
	u->in.fd = STDIN_FILENO;
	u->mode_mask = options[1].value ? 07777 : 0777;
	if (options[3].value && mkdir(dir, 0755) == 0 && u->making.chown && chown(dir, u->making.uid, u->making.gid) != 0) return fail_errno(dir);
	u->root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (u->root < 0) return fail_errno(dir);
	int code = options[0].value ? remove_told(&u->in, u->root, u->from_path, true) : 0;
	return code ? code : unpack_all(u);
}

static int remove_whole(char *dir) {
	struct stat s;
	for (size_t length = strlen(dir); length > 1 && dir[length - 1] == '/'; length--) dir[length - 1] = 0; // with a slash a link would be followed
	if (lstat(dir, &s) != 0) return errno == ENOENT ? 0 : fail_errno(dir);
	if (!S_ISDIR(s.st_mode)) return fail(FAIL_SYSTEM, "ENOTDIR", dir);
	return below_remove(AT_FDCWD, dir) ? 0 : fail_errno(dir);
}

int command_remove(int count, char **words) {
	struct option from_stdin = {.name = "--from-stdin", .is_flag = true};
	static struct source in = {.fd = STDIN_FILENO};
	static char path[BELOW_ROOM];
	const char *dir;
	if (!take_words(count, words, &dir, &from_stdin, 1)) return EXIT_USAGE;
	below_raise_limit();
	if (!from_stdin.value) return remove_whole(strdup(dir));
	int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? fail_errno(dir) : remove_told(&in, root, path, false);
}
