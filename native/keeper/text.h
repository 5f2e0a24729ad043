// Small pieces everybody needs: growing text, JSON, whole reads and writes, names of errors and signals, clocks.
#ifndef KEEPER_TEXT_H
#define KEEPER_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct text {
	char *bytes; // always ended by a NUL that `size` does not count
	size_t size, room;
	bool failed; // out of memory: everything after is ignored
};

__attribute__((format(printf, 2, 3))) void text_print(struct text *text, const char *format, ...);
// A JSON string in quotes; `value` NULL prints null.
void text_json(struct text *text, const char *value);
void text_free(struct text *text);

bool write_all(int fd, const void *bytes, size_t size);
// The same at an offset; a disk that takes nothing more is ENOSPC.
bool pwrite_all(int fd, const void *bytes, size_t size, uint64_t at);
// As many bytes as asked for, fewer only at the end; -1 with errno.
ssize_t read_full(int fd, void *into, size_t size);
// Reads a whole file below `dir_fd` of at most `max` bytes; NULL with errno. The caller frees; one spare byte is behind the end.
char *read_file(int dir_fd, const char *name, size_t max, size_t *size);
// Writes `name` below `dir_fd` by a temporary name; with `sync` it is on disk, name and all, when this returns true.
bool replace_file(int dir_fd, const char *name, const struct text *content, bool sync);

const char *errno_name(int number);  // "ENOENT"; "E<number>" for rare ones
const char *signal_name(int number); // "SIGKILL"
int signal_number(const char *name); // of the six a client may send, else 0

uint64_t now_ms(void);      // monotonic
uint64_t wall_now_ms(void); // since 1970
bool set_nonblocking(int fd);
#endif
