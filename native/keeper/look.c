#include "look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "keeper.h"
#include "stream.h"

enum { MAX_RECORD = 64 << 10 };
static const char *const stream_names[STREAM_COUNT] = {"stdout", "stderr"};

static void take_identity(int dir_fd, struct look *look) {
	size_t size = 0;
	unsigned long long ticks = 0;
	char *text = read_file(dir_fd, "status", MAX_RECORD, &size);
	if (!text) return;
	look->has_identity = sscanf(text, "{\"version\":1,\"pid\":%d,\"startTicks\":%llu,\"bootId\":\"%36[0-9a-f-]\"", &look->pid, &ticks, look->boot_id) == 3 && look->pid > 0;
	look->start_ticks = ticks;
	free(text);
}

void look_released(int dir_fd, uint64_t released[2]) {
	size_t size = 0;
	unsigned long long out = 0, err = 0;
	char *text = read_file(dir_fd, "released", MAX_RECORD, &size);
	if (text && sscanf(text, "stdout %20llu\nstderr %20llu\n", &out, &err) != 2) out = err = 0;
	released[0] = out;
	released[1] = err;
	free(text);
}

static char *take_exit(int dir_fd) {
	size_t size = 0;
	char *text = read_file(dir_fd, "exit", MAX_RECORD, &size);
	if (!text) return NULL;
	text[strcspn(text, "\n")] = 0;
	size = strlen(text);
	if (size > 1 && text[0] == '{' && text[size - 1] == '}') return text;
	free(text);
	return NULL;
}

bool look_at(int dir_fd, struct look *look) {
	*look = (struct look){0};
	struct identity here;
	if (!record_identity(&here)) return false;
	memcpy(look->current_boot_id, here.boot_id, sizeof look->current_boot_id);
	take_identity(dir_fd, look);
	// Life first: a keeper that ends after this look has its record written before.
	look->alive = look->has_identity && strcmp(look->boot_id, look->current_boot_id) == 0 && start_ticks_of(look->pid) == look->start_ticks;
	look->exit = take_exit(dir_fd);
	look_released(dir_fd, look->released);
	for (int i = 0; i < STREAM_COUNT; i++) {
		struct stat stat_of;
		if (fstatat(dir_fd, stream_names[i], &stat_of, AT_SYMLINK_NOFOLLOW) == 0) look->bytes[i] = (uint64_t)stat_of.st_size;
	}
	return true;
}

static void print_look(const struct look *look, struct text *into) {
	text_print(into, "{\"identity\":");
	if (look->has_identity) {
		text_print(into, "{\"pid\":%d,\"startTicks\":%llu,\"bootId\":", look->pid, (unsigned long long)look->start_ticks);
		text_json(into, look->boot_id);
		text_print(into, "}");
	} else text_print(into, "null");
	text_print(into, ",\"alive\":%s,\"exit\":%s", look->alive ? "true" : "false", look->exit ? look->exit : "null");
	for (int i = 0; i < STREAM_COUNT; i++) text_print(into, ",\"%sBytes\":%llu", stream_names[i], (unsigned long long)look->bytes[i]);
	for (int i = 0; i < STREAM_COUNT; i++) text_print(into, ",\"%sReleased\":%llu", stream_names[i], (unsigned long long)look->released[i]);
	text_print(into, ",\"bootId\":");
	text_json(into, look->current_boot_id);
	text_print(into, "}\n");
}

static int print_line(const struct text *line) {
	if (!line->failed && write_all(STDOUT_FILENO, line->bytes, line->size)) return 0;
	return fail_errno("stdout");
}

int command_look(int count, char **words) {
	const char *dir;
	struct text line = {0};
	struct look look = {0};
	if (!take_words(count, words, &dir, NULL, 0)) return EXIT_USAGE;
	int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0 && errno != ENOENT) return fail_errno(dir);
	if (dir_fd < 0) text_print(&line, "{\"missing\":true}\n");
	else if (!look_at(dir_fd, &look)) return fail_errno("/proc/sys/kernel/random/boot_id");
	else print_look(&look, &line);
	free(look.exit);
	int code = print_line(&line);
	text_free(&line);
	return code;
}

// The bytes of a spool file from an offset to its present end.
static int copy_spool(int dir_fd, int stream, uint64_t offset) {
	static uint8_t chunk[STREAM_PIECE];
	struct stat stat_of;
	uint64_t released[STREAM_COUNT];
	look_released(dir_fd, released);
	if (offset < released[stream]) return fail(FAIL_TRIMMED, "trimmed", "output below this offset was released");
	int fd = openat(dir_fd, stream_names[stream], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 && errno == ENOENT && offset == 0) return 0; // made with the first byte
	if (fd < 0 && errno == ENOENT) return fail(FAIL_LIMIT, "range", "there is no such offset yet");
	if (fd < 0 || fstat(fd, &stat_of) != 0) return fail_errno(stream_names[stream]);
	uint64_t end = (uint64_t)stat_of.st_size;
	if (offset > end) return fail(FAIL_LIMIT, "range", "there is no such offset yet");
	while (offset < end) {
		uint64_t most = end - offset < sizeof chunk ? end - offset : sizeof chunk;
		ssize_t n = pread(fd, chunk, (size_t)most, (off_t)offset);
		if (n < 0 && errno == EINTR) continue;
		if (n <= 0) return fail_errno(stream_names[stream]);
		// A hole is made after its word is written: what was read before that word are the program's bytes.
		look_released(dir_fd, released);
		if (offset < released[stream]) return fail(FAIL_TRIMMED, "trimmed", "output was released while it was read");
		if (!write_all(STDOUT_FILENO, chunk, (size_t)n)) return fail_errno("stdout");
		offset += (uint64_t)n;
	}
	return 0;
}

int command_spool(int count, char **words) {
	struct option from = {.name = "--from"};
	const char *dir;
	uint64_t offset = 0;
	if (count < 2 || (strcmp(words[1], "stdout") && strcmp(words[1], "stderr"))) return usage("spool needs a directory, then stdout or stderr");
	int stream = strcmp(words[1], "stderr") == 0 ? STREAM_STDERR : STREAM_STDOUT;
	words[1] = words[0];
	if (!take_words(count - 1, words + 1, &dir, &from, 1)) return EXIT_USAGE;
	if (from.value && !parse_number(from.value, 10, INT64_MAX, &offset)) return usage("--from needs an offset");
	int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir_fd < 0 ? fail_errno(dir) : copy_spool(dir_fd, stream, offset);
}
