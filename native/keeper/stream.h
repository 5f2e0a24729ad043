// Bytes out of and into descriptors, in pieces of 64 KiB.
#ifndef KEEPER_STREAM_H
#define KEEPER_STREAM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STREAM_PIECE = 64 << 10 };

struct sink {
	int fd;
	size_t used;
	uint8_t bytes[STREAM_PIECE];
};

// False with errno when the descriptor does not take them.
bool sink_put(struct sink *sink, const void *bytes, size_t size);
bool sink_flush(struct sink *sink);

struct source {
	int fd; // -1: what `bytes` holds is all
	size_t start, end;
	int failure; // errno of a failed read; such a source is at its end
	uint8_t bytes[STREAM_PIECE];
};

// At least one byte ready at `bytes + start`; false at the end.
bool source_fill(struct source *source);
// As many bytes as asked for; fewer only at the end.
size_t source_take(struct source *source, void *into, size_t size);

enum name_result { NAME_TAKEN, NAME_END, NAME_BAD };
// The bytes up to the next NUL, which is left out. BAD: longer than `room` with its NUL, or no NUL before the end.
enum name_result source_name(struct source *source, char *into, size_t room);
#endif
