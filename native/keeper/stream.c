#include "stream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

bool sink_flush(struct sink *sink) {
	size_t used = sink->used;
	sink->used = 0;
	return write_all(sink->fd, sink->bytes, used);
}

bool sink_put(struct sink *sink, const void *bytes, size_t size) {
	const uint8_t *at = bytes;
	while (size > 0) {
		size_t room = sizeof sink->bytes - sink->used, part = size < room ? size : room;
		memcpy(sink->bytes + sink->used, at, part);
		sink->used += part;
		at += part;
		size -= part;
		if (sink->used == sizeof sink->bytes && !sink_flush(sink)) return false;
	}
	return true;
}

bool source_fill(struct source *source) {
	if (source->start < source->end) return true;
	if (source->fd < 0 || source->failure) return false;
	ssize_t n;
	do n = read(source->fd, source->bytes, sizeof source->bytes);
	while (n < 0 && errno == EINTR);
	if (n < 0) source->failure = errno;
	source->start = 0;
	source->end = n > 0 ? (size_t)n : 0;
	return n > 0;
}

size_t source_take(struct source *source, void *into, size_t size) {
	size_t done = 0;
	while (done < size && source_fill(source)) {
		size_t ready = source->end - source->start, part = size - done < ready ? size - done : ready;
		memcpy((uint8_t *)into + done, source->bytes + source->start, part);
		source->start += part;
		done += part;
	}
	return done;
}

enum name_result source_name(struct source *source, char *into, size_t room) {
	size_t done = 0;
	while (source_fill(source)) {
		const uint8_t *at = source->bytes + source->start, *nul = memchr(at, 0, source->end - source->start);
		size_t part = nul ? (size_t)(nul - at) + 1 : source->end - source->start;
		if (part > room - done) return NAME_BAD;
		memcpy(into + done, at, part);
		source->start += part;
		done += part;
		if (nul) return NAME_TAKEN;
	}
	return done > 0 || source->failure ? NAME_BAD : NAME_END;
}
