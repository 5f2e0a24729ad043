// A folder as a tar stream, whole or by paths.
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

struct pack {
	struct sink out;
	struct source in;
	char path[BELOW_ROOM], asked[BELOW_ROOM], target[TAR_TARGET_ROOM];
	uint8_t chunk[STREAM_PIECE];
	int failure; // exit code of what was said already
};

// The header promised `size` bytes: a file that shrinks is filled up with zeros, one that grows is cut.
static bool put_bytes(struct pack *pack, int fd, const struct below_entry *entry, uint64_t size) {
	bool shrunk = false;
	for (uint64_t done = 0; done < size;) {
		size_t most = size - done < sizeof pack->chunk ? (size_t)(size - done) : sizeof pack->chunk;
		ssize_t n = shrunk ? (ssize_t)most : read(fd, pack->chunk, most);
		if (n < 0 && errno == EINTR) continue;
		if (n < 0) {
			pack->failure = fail_errno(entry->path);
			return false;
		}
		if (n == 0) {
			shrunk = true;
			memset(pack->chunk, 0, sizeof pack->chunk);
			note_line("changed", entry->path);
			continue;
		}
		if (!sink_put(&pack->out, pack->chunk, (size_t)n)) return false;
		done += (uint64_t)n;
	}
	return tar_put_padding(&pack->out, size);
}

static enum below_step gone(const struct below_entry *entry) {
	note_line("gone", entry->path);
	return BELOW_OVER;
}

static struct tar_entry describe(const struct below_entry *entry, const struct stat *s) {
	return (struct tar_entry){.path = entry->path, .target = "", .mode = s->st_mode & 07777, .uid = s->st_uid, .gid = s->st_gid, .mtime = s->st_mtim};
}

static enum below_step pack_file(struct pack *pack, const struct below_entry *entry) {
	struct stat s;
	int fd = openat(entry->parent, entry->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ELOOP)) return gone(entry);
	if (fd < 0 || fstat(fd, &s) != 0) {
		pack->failure = fail_errno(entry->path);
		return BELOW_STOP;
	}
	if (!S_ISREG(s.st_mode)) { // replaced meanwhile
		close(fd);
		return gone(entry);
	}
	struct tar_entry header = describe(entry, &s);
	header.type = TAR_FILE;
	header.size = (uint64_t)s.st_size;
	bool put = tar_put_header(&pack->out, &header) && put_bytes(pack, fd, entry, header.size);
	close(fd);
	return put ? BELOW_ON : BELOW_STOP;
}

static enum below_step pack_entry(void *context, const struct below_entry *entry) {
	struct pack *pack = context;
	struct tar_entry header = describe(entry, entry->stat);
	if (S_ISREG(entry->stat->st_mode)) return pack_file(pack, entry);
	if (S_ISDIR(entry->stat->st_mode)) header.type = TAR_FOLDER;
	else if (S_ISLNK(entry->stat->st_mode)) {
		ssize_t size = readlinkat(entry->parent, entry->name, pack->target, sizeof pack->target - 1);
		if (size < 0 || size == (ssize_t)sizeof pack->target - 1) return gone(entry);
		pack->target[size] = 0;
		header.type = TAR_SYMLINK;
		header.target = pack->target;
	} else {
		note_line("left out", entry->path);
		return BELOW_ON;
	}
	return tar_put_header(&pack->out, &header) ? BELOW_ON : BELOW_STOP;
}

// One path that was asked for; a slash at its end asks for all below it too. False when this ends the command.
static bool pack_asked(struct pack *pack, int root) {
	size_t length = strlen(pack->asked);
	bool with_all = length > 0 && pack->asked[length - 1] == '/';
	struct stat s;
	const char *name;
	if (!below_clean(pack->asked) || !*pack->asked) {
		pack->failure = fail(FAIL_BAD_STREAM, "bad-stream", "a path is empty, absolute or has `..`");
		return false;
	}
	snprintf(pack->path, sizeof pack->path, "%s", pack->asked);
	int parent = below_parent(root, pack->asked, &name, NULL);
	struct below_entry entry = {.parent = parent, .name = name, .path = pack->path, .stat = &s};
	enum below_step step = BELOW_STOP;
	bool there = parent >= 0 && fstatat(parent, name, &s, AT_SYMLINK_NOFOLLOW) == 0;
	if (there) step = pack_entry(pack, &entry);
	else if (errno == ENOENT || errno == ENOTDIR) step = gone(&entry);
	else pack->failure = fail_errno(pack->path);
	int fd = step == BELOW_ON && with_all && S_ISDIR(s.st_mode) ? below_folder(parent, name) : -1;
	if (parent >= 0) close(parent);
	return fd >= 0 ? below_walk(fd, pack->path, pack_entry, pack) : step != BELOW_STOP;
}

static bool pack_all_asked(struct pack *pack, int root) {
	for (;;) {
		enum name_result result = source_name(&pack->in, pack->asked, sizeof pack->asked);
		if (result == NAME_END) return true;
		if (result == NAME_TAKEN && pack_asked(pack, root)) continue;
		if (result == NAME_BAD) pack->failure = fail(FAIL_BAD_STREAM, "bad-stream", "a path is too long or not ended by NUL");
		return false;
	}
}

int command_pack(int count, char **words) {
	struct option from_stdin = {.name = "--from-stdin", .is_flag = true};
	struct pack *pack = calloc(1, sizeof *pack);
	const char *dir;
	if (!take_words(count, words, &dir, &from_stdin, 1)) return EXIT_USAGE;
	if (!pack) return fail_errno(dir);
	pack->out.fd = STDOUT_FILENO;
	pack->in.fd = STDIN_FILENO;
	below_raise_limit();
	int root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (root < 0) return fail_errno(dir);
	// Without its end an archive is known to be cut.
	bool packed = from_stdin.value ? pack_all_asked(pack, root) : below_walk(root, pack->path, pack_entry, pack);
	if (packed && tar_put_end(&pack->out) && sink_flush(&pack->out)) return 0;
	int failure = errno;
	if (pack->failure) return pack->failure;
	errno = failure ? failure : EPIPE;
	return fail_errno(packed || !pack->path[0] ? "stdout" : pack->path);
}
