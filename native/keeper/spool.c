// Output: read from the pipe or terminal, appended to a file. Back-pressure is simply not reading.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper.h"

enum { PUNCH_STEP = 64 << 10, RELEASED_SIZE = 2 * (6 + 1 + 20 + 1) };

static const char *const names[STREAM_COUNT] = {"stdout", "stderr"};

static bool write_released(struct keeper *k) {
	char line[RELEASED_SIZE + 1];
	snprintf(line, sizeof line, "stdout %020llu\nstderr %020llu\n", (unsigned long long)k->spools[0].released, (unsigned long long)k->spools[1].released);
	int fd = openat(k->dir_fd, "released", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) return false;
	bool written = pwrite_all(fd, line, RELEASED_SIZE, 0);
	close(fd);
	return written;
}

void spool_begin(struct keeper *k) {
	for (int i = 0; i < STREAM_COUNT; i++) k->spools[i].ended = k->spools[i].source < 0;
}

// Made with the first byte: on a busy disk a new file can cost more than the rest of a start.
static bool open_file(struct keeper *k, struct spool *s) {
	if (s->file < 0) s->file = openat(k->dir_fd, names[s - k->spools], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->file < 0) run_lost(k, "disk", errno);
	return s->file >= 0;
}

static void end_stream(struct keeper *k, struct spool *s) {
	if (s->source >= 0 && s->source != k->terminal) close(s->source);
	s->source = -1;
	s->ended = true;
}

static bool append(struct keeper *k, struct spool *s, const uint8_t *bytes, size_t size) {
	if (size > 0 && !open_file(k, s)) return false;
	if (!pwrite_all(s->file, bytes, size, s->end)) {
		run_lost(k, "disk", errno);
		// What the disk took of it counts: the record tells as much as is there.
		struct stat stat_of;
		if (fstat(s->file, &stat_of) == 0 && (uint64_t)stat_of.st_size > s->end) s->end = (uint64_t)stat_of.st_size;
		return false;
	}
	s->end += size;
	return true;
}

// One read. False when there is nothing to read now or ever.
static bool take(struct keeper *k, struct spool *s, uint64_t most) {
	uint64_t total = k->spools[0].end + k->spools[1].end, left = k->spec.limits.output_bytes - total;
	// One byte more than allowed tells "exactly as much" from "too much".
	if (most > left + 1) most = left + 1;
	if (most > READ_CHUNK) most = READ_CHUNK;
	ssize_t n = read(s->source, k->chunk, (size_t)most);
	if (n < 0 && errno == EINTR) return true;
	if (n < 0 && errno == EAGAIN) return false;
	if (n <= 0) { // a terminal says EIO when its last user has gone
		if (n < 0 && !(errno == EIO && s->source == k->terminal)) run_lost(k, "stream", errno);
		end_stream(k, s);
		return false;
	}
	bool beyond = (uint64_t)n > left;
	if (!append(k, s, k->chunk, beyond ? (size_t)left : (size_t)n)) {
		end_stream(k, s);
		return false;
	}
	if (!beyond) return true;
	for (int i = 0; i < STREAM_COUNT; i++) end_stream(k, &k->spools[i]);
	run_end(k, "output", "limit:output");
	return false;
}

static uint64_t window_left(const struct keeper *k, const struct spool *s) {
	uint64_t unread = s->end - s->released;
	return unread >= k->spec.limits.spool_window_bytes ? 0 : k->spec.limits.spool_window_bytes - unread;
}

static void on_readable(struct keeper *k, void *context, short events) {
	struct spool *s = context;
	(void)events;
	for (int i = 0; i < 4 && s->source >= 0 && window_left(k, s) > 0; i++)
		if (!take(k, s, window_left(k, s))) return;
}

void spool_poll(struct keeper *k) {
	for (int i = 0; i < STREAM_COUNT; i++) {
		struct spool *s = &k->spools[i];
		if (s->source >= 0 && window_left(k, s) > 0) poll_add(k, s->source, POLLIN, on_readable, s);
	}
}

void spool_drain(struct keeper *k) {
	for (int i = 0; i < STREAM_COUNT; i++) {
		struct spool *s = &k->spools[i];
		while (s->source >= 0 && take(k, s, READ_CHUNK)) continue;
		// Nothing of the tree is left: who still holds the pipe does not belong to this run.
		if (s->source >= 0) end_stream(k, s);
		if (s->end > s->released && fdatasync(s->file) != 0) run_lost(k, "disk", errno);
	}
}

void spool_release(struct keeper *k, int stream, uint64_t offset) {
	struct spool *s = &k->spools[stream];
	if (offset <= s->released) return;
	s->released = offset;
	if (s->released - s->punched < PUNCH_STEP && s->released != s->end) return;
	// First the word, then the hole: a reader never takes zero bytes for output.
	if (!write_released(k)) return;
	uint64_t until = s->released & ~(uint64_t)4095;
	if (until > s->punched && system_punch(s->file, s->punched, until)) s->punched = until;
}
