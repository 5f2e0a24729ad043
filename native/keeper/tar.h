// Tar archives as POSIX (pax) and GNU tar write them. What is read is not trusted.
#ifndef KEEPER_TAR_H
#define KEEPER_TAR_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "below.h"
#include "stream.h"

enum { TAR_BLOCK = 512, TAR_MAX_PAX = 1 << 20, TAR_TARGET_ROOM = 16 << 10 };
enum tar_type { TAR_FILE = '0', TAR_HARD_LINK = '1', TAR_SYMLINK = '2', TAR_FOLDER = '5', TAR_OTHER = '6' }; // OTHER: fifo or device

struct tar_member {
	enum tar_type type;
	char path[BELOW_ROOM]; // as in the archive; not cleaned
	char target[TAR_TARGET_ROOM]; // of links
	mode_t mode; // 07777
	uint64_t size; // bytes that follow, 0 for all but files
	struct timespec mtime;
};

enum tar_result { TAR_MEMBER, TAR_END, TAR_BAD };
// The next member; its bytes follow in `in`, then tar_pad. BAD: `why` tells (a string that lives on).
enum tar_result tar_next(struct source *in, struct tar_member *member, const char **why);
// Reads over the rest of the last block of a member's bytes. False at the end.
bool tar_pad(struct source *in, uint64_t size);

struct tar_entry {
	const char *path;
	const char *target; // "" for all but symlinks
	enum tar_type type;
	mode_t mode;
	uint64_t uid, gid, size;
	struct timespec mtime;
};
// Puts the header of an entry; `size` bytes and tar_put_padding come after. False with errno.
bool tar_put_header(struct sink *out, const struct tar_entry *entry);
bool tar_put_padding(struct sink *out, uint64_t size);
bool tar_put_end(struct sink *out);
#endif
