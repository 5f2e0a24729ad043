// Input: written once per id, with a journal that tells after any crash how far it got. Format: WIRE.md, "input journal".
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frame.h"
#include "keeper.h"
#include "faults.h"

// A pipe takes this much whole or not at all, so that only one piece can ever be in doubt.
enum { PIECE = 4096, PIECES_PER_TURN = 16, MAX_WAITERS = 8 };
static const uint64_t MAX_QUEUED = (uint64_t)32 << 20;

enum input_state { INPUT_WAITING, INPUT_UNDER_WAY, INPUT_WRITTEN, INPUT_FAILED };
struct input {
	struct input *next;
	enum input_state state;
	uint8_t *bytes; // freed once settled
	uint32_t size, offset;
	struct viewer_tag waiters[MAX_WAITERS];
	int waiting;
	bool is_close; // not an input: the order to close
	char id[MAX_ID + 1];
};

__attribute__((format(printf, 2, 3))) static bool journal(struct keeper *k, const char *format, ...) {
	char line[MAX_ID + 80];
	va_list arguments;
	va_start(arguments, format);
	int size = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (k->journal < 0) k->journal = openat(k->dir_fd, "input", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (k->journal >= 0 && size > 0 && write_all(k->journal, line, (size_t)size)) return true;
	run_lost(k, "disk", errno);
	return false;
}

static bool journal_synced(struct keeper *k) {
	if (fdatasync(k->journal) == 0) return true;
	run_lost(k, "disk", errno);
	return false;
}

static void print_state(const struct input *input, struct text *into) {
	if (input && input->state == INPUT_WRITTEN) text_print(into, "{\"state\":\"written\"}");
	else if (input && input->offset > 0) text_print(into, "{\"state\":\"partial\",\"bytes\":%u}", input->offset);
	else text_print(into, "{\"state\":\"unwritten\"}");
}

static struct input *find(const struct keeper *k, const char *id) {
	for (struct input *input = k->inputs; input; input = input->next)
		if (!input->is_close && strcmp(input->id, id) == 0) return input;
	return NULL;
}

void input_state_json(struct keeper *k, const char *id, struct text *into) { print_state(find(k, id), into); }

static void answer(struct viewer_tag to, const struct input *input) {
	struct text json = {0};
	if (!input->is_close) print_state(input, &json);
	answer_ok(to, &json);
	text_free(&json);
}

static void settle(struct keeper *k, struct input *input, enum input_state state) {
	input->state = state;
	free(input->bytes);
	input->bytes = NULL;
	if (!input->is_close) k->input_queued -= input->size;
	for (int i = 0; i < input->waiting; i++) answer(input->waiters[i], input);
	input->waiting = 0;
}

static void close_stdin(struct keeper *k) {
	if (k->stdin_fd >= 0 && k->stdin_fd != k->terminal) close(k->stdin_fd);
	k->stdin_fd = -1;
}

static void give_up(struct keeper *k, struct input *input) {
	if (!input->is_close && !journal(k, "fail %s %u\n", input->id, input->offset)) return;
	settle(k, input, INPUT_FAILED);
}

void input_settle(struct keeper *k) {
	close_stdin(k);
	for (struct input *input = k->inputs; input; input = input->next)
		if (input->state == INPUT_WAITING || input->state == INPUT_UNDER_WAY) give_up(k, input);
}

static struct input *first_open(const struct keeper *k) {
	struct input *input = k->inputs;
	while (input && (input->state == INPUT_WRITTEN || input->state == INPUT_FAILED)) input = input->next;
	return input;
}

// One piece; false when no more can be written now.
static bool write_piece(struct keeper *k, struct input *input) {
	uint32_t size = input->size - input->offset;
	if (size > PIECE) size = PIECE;
	if (!journal(k, "try %s %u %u\n", input->id, input->offset, size)) return false;
	fault_point("input-tried");
	ssize_t n = write(k->stdin_fd, input->bytes + input->offset, size);
	fault_point("input-piece");
	if (n < 0 && (errno == EINTR || errno == EAGAIN)) return false;
	if (n < 0) {
		input_settle(k);
		return false;
	}
	input->offset += (uint32_t)n;
	return journal(k, "did %s %u\n", input->id, input->offset);
}

static bool begin(struct keeper *k, struct input *input) {
	bool made = k->journal < 0;
	if (!journal(k, "intent %s %u\n", input->id, input->size) || !journal_synced(k)) return false;
	if (made && fsync(k->dir_fd) != 0) { // the journal's name too
		run_lost(k, "disk", errno);
		return false;
	}
	fault_point("input-intent");
	input->state = INPUT_UNDER_WAY;
	return true;
}

static void finish_close(struct keeper *k, struct input *order) {
	if (!journal(k, "close\n")) return;
	// A terminal cannot be closed one way; its end-of-file character says the same to who reads lines.
	if (k->stdin_fd >= 0 && k->stdin_fd == k->terminal && write(k->terminal, "\x04", 1) != 1) return;
	close_stdin(k);
	settle(k, order, INPUT_WRITTEN);
}

static void on_writable(struct keeper *k, void *context, short events) {
	(void)context;
	struct input *input = first_open(k);
	if (!input || k->stdin_fd < 0) return;
	if ((events & POLLERR) && k->stdin_fd != k->terminal) { // nobody reads any more
		input_settle(k);
		return;
	}
	if (input->is_close) {
		finish_close(k, input);
		return;
	}
	if (input->state == INPUT_WAITING && !begin(k, input)) return;
	for (int i = 0; i < PIECES_PER_TURN && input->offset < input->size; i++) {
		if (i > 0) {
			struct pollfd room = {.fd = k->stdin_fd, .events = POLLOUT};
			if (poll(&room, 1, 0) != 1 || !(room.revents & POLLOUT)) return;
		}
		if (!write_piece(k, input)) return;
	}
	if (input->offset < input->size) return;
	fault_point("input-all");
	if (!journal(k, "done %s %u\n", input->id, input->size) || !journal_synced(k)) return;
	fault_point("input-done");
	settle(k, input, INPUT_WRITTEN);
}

void input_poll(struct keeper *k) {
	// Before `go` nobody reads; what fits into a pipe would count as written to a program that never ran.
	if (k->state == RUN_RUNNING && k->stdin_fd >= 0 && first_open(k)) poll_add(k, k->stdin_fd, POLLOUT, on_writable, NULL);
}

static struct input *append(struct keeper *k) {
	struct input *input = calloc(1, sizeof *input), **end = &k->inputs;
	while (*end) end = &(*end)->next;
	if (input) *end = input;
	return input;
}

static void wait_for(struct input *input, struct viewer_tag from) {
	if (input->waiting == MAX_WAITERS) answer_error(from, "busy", "too many wait for this input");
	else input->waiters[input->waiting++] = from;
}

void input_add(struct keeper *k, const char *id, const uint8_t *bytes, uint32_t size, struct viewer_tag from) {
	struct input *known = find(k, id);
	if (known && (known->state == INPUT_WRITTEN || known->state == INPUT_FAILED)) answer(from, known);
	else if (known) wait_for(known, from);
	else if (k->stdin_fd < 0 || k->close_requested) answer_error(from, "no-input", "the program's standard input is not open");
	else if (k->input_queued + size > MAX_QUEUED) answer_error(from, "busy", "32 MiB of input are waiting already");
	else {
		uint8_t *copy = malloc(size ? size : 1);
		struct input *input = copy ? append(k) : NULL;
		if (!input) {
			free(copy);
			answer_error(from, "busy", "out of memory");
			return;
		}
		memcpy(copy, bytes, size);
		input->bytes = copy;
		input->size = size;
		snprintf(input->id, sizeof input->id, "%s", id);
		k->input_queued += size;
		wait_for(input, from);
	}
}

void input_close(struct keeper *k, struct viewer_tag from) {
	struct input *order = k->stdin_fd >= 0 && !k->close_requested ? append(k) : NULL;
	if (order) {
		k->close_requested = true;
		order->is_close = true;
		wait_for(order, from);
		return;
	}
	for (struct input *input = k->inputs; input; input = input->next)
		if (input->is_close && input->state == INPUT_WAITING) {
			wait_for(input, from);
			return;
		}
	answer_ok(from, &(struct text){0});
}

void input_forget_viewer(struct keeper *k, const struct viewer *viewer) {
	for (struct input *input = k->inputs; input; input = input->next) {
		int kept = 0;
		for (int i = 0; i < input->waiting; i++)
			if (input->waiters[i].viewer != viewer) input->waiters[kept++] = input->waiters[i];
		input->waiting = kept;
	}
}
