// Paths below a folder that others may change at the same time: no step ever goes through a symlink.
#ifndef KEEPER_BELOW_H
#define KEEPER_BELOW_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

// Longest relative path with its NUL, and the most folders within each other.
enum { BELOW_ROOM = 16 << 10, BELOW_DEPTH = 1000 };

// Cleans a relative path in place: no `.`, no doubled or trailing slash; the folder itself becomes "". False: absolute or with `..`.
bool below_clean(char *path);

// How missing folders on the way are made; what is there and no folder is replaced.
struct below_making { bool chown; uid_t uid; gid_t gid; };
// Opens the folder that holds the last component of a cleaned path, and tells that component. -1 with errno.
// `making` NULL: what is missing is ENOENT, what is no folder ENOTDIR.
int below_parent(int root, const char *path, const char **name, const struct below_making *making);
// Opens the folder `name`, never a link to one. -1 with errno.
int below_folder(int parent, const char *name);
// The same, and its owner may look, pass and change it from now on, whatever its mode was. -1 with errno.
int below_folder_to_change(int parent, const char *name);
// Removes whatever `name` is, with everything below it. True also when it was not there.
bool below_remove(int parent, const char *name);
// As many descriptors as the system allows: one is held per folder on the way down.
void below_raise_limit(void);

struct below_entry {
	int parent;
	const char *name, *path; // `path` is relative to where the walk began
	const struct stat *stat; // of the entry itself
};
enum below_step { BELOW_ON, BELOW_OVER, BELOW_STOP }; // OVER: not into this folder
typedef enum below_step below_visit(void *context, const struct below_entry *entry);
// Visits everything below the folder `fd`, which it closes; folders before what they hold. `path` is the prefix ("" or cleaned), used as room.
// Entries that vanish meanwhile are left out. False with errno (0 after STOP); `path` tells where.
bool below_walk(int fd, char path[BELOW_ROOM], below_visit *visit, void *context);
#endif
